"""`cw hub user`: accounts in the hands of the operator, and what the audit says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cw.cli import main
from cw_hub.accounts import audit
from hub.tests.sites import PASSWORD, Site, words_of


class Operator:
    """Types commands beside a site that runs."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def type(self, *words: str, answer: str | None = None) -> Result:
        settings = self.site.resources.settings
        environment = {
            "CW_DATA": str(settings.data),
            "CW_DATABASE_URL": settings.database_url,
            "CW_MASTER_KEYS": settings.master_keys,
            "CW_SECRET_KEY": settings.secret_key,
            "CW_PUBLIC_URL": settings.address,
        }
        return CliRunner().invoke(main, ["hub", "user", *words], answer, env=environment)

    def say(self, *words: str) -> str:
        """Return what a command prints that must succeed."""
        result = self.type(*words)
        assert result.exit_code == 0, result.output
        return result.stdout


@pytest.fixture
def operator(site: Site) -> Operator:
    return Operator(site)


def test_lock_ends_the_open_session_and_unlock_lets_in_again(
    site: Site, operator: Operator
) -> None:
    ada = site.player("Ada")
    assert operator.say("lock", "ada") == "locked ada\n"
    assert not ada.is_player()
    site.visitor().log_in("Ada")
    operator.say("unlock", "Ada")
    assert site.visitor().log_in("Ada").headers["Location"] == "/ranking"


def test_a_printed_link_works_once(site: Site, operator: Operator) -> None:
    site.player("Ada")
    link = operator.say("reset-link", "Ada").strip()
    assert link.startswith(f"{site.resources.settings.address}/reset/")
    path = link.removeprefix(site.resources.settings.address)
    visitor = site.visitor()
    assert visitor.fill(path, password="123456", password_repeat="123456").status_code == 303
    assert site.visitor().open(path).status_code == 410
    assert "not confirmed" in visitor.open("/settings").text


def test_the_locked_get_no_link(site: Site, operator: Operator) -> None:
    site.player("Ada")
    operator.say("lock", "Ada")
    result = operator.type("reset-link", "Ada")
    assert result.exit_code == 2
    assert "cw hub user unlock Ada" in result.stderr


def test_delete_asks_first(site: Site, operator: Operator) -> None:
    ada = site.player("Ada")
    assert operator.type("delete", "Ada", answer="n\n").exit_code == 1
    assert ada.is_player()
    assert operator.type("delete", "Ada", answer="y\n").exit_code == 0
    assert not ada.is_player()
    assert site.visitor().open("/user/Ada").status_code == 404


def test_another_address_is_not_confirmed_and_ends_the_links(
    site: Site, operator: Operator
) -> None:
    ada = site.player("Ada")
    site.visitor().fill("/forgot", username="Ada")
    site.do_jobs()
    operator.say("set-email", "Ada", "new@example.org")
    assert "Email new@example.org not confirmed" in words_of(ada.open("/settings"))
    assert site.visitor().open(site.link()).status_code == 410
    assert operator.type("set-email", "Ada", "nothing").exit_code == 2


def test_list_and_show_tell_people_and_machines(site: Site, operator: Operator) -> None:
    site.player("Ada")
    site.player("Bob")
    operator.say("admin", "Bob")
    operator.say("lock", "Ada")
    assert operator.say("list") == (
        "Ada  player, locked  since 2026-11-20\nBob  admin  since 2026-11-20\n"
    )
    rows = [json.loads(line) for line in operator.say("list", "--json").splitlines()]
    assert [(row["username"], row["role"]) for row in rows] == [("Ada", "player"), ("Bob", "admin")]
    assert "email: ada@example.org\n" in operator.say("show", "ADA")
    assert json.loads(operator.say("show", "Bob", "--json"))["country"] is None
    operator.say("admin", "Bob", "--off")
    assert json.loads(operator.say("show", "Bob", "--json"))["role"] == "player"


@pytest.mark.parametrize("verb", ["show", "admin", "lock", "unlock", "reset-link"])
def test_unknown_names_are_refused_in_a_sentence(operator: Operator, verb: str) -> None:
    result = operator.type(verb, "nobody")
    assert result.exit_code == 2
    assert "there is no user 'nobody'" in result.stderr


def test_each_act_is_in_the_audit_without_address_and_link(site: Site, operator: Operator) -> None:
    site.player("Ada")
    operator.say("lock", "Ada")
    operator.say("unlock", "Ada")
    operator.say("admin", "Ada")
    assert operator.say("confirm-email", "ada") == "confirmed the address of ada\n"
    operator.say("set-email", "Ada", "new@example.org")
    link = operator.say("reset-link", "Ada")
    operator.say("delete", "Ada", "--yes")
    with site.resources.database.reading() as session:
        rows = audit.history(session, "user:1")
    assert sorted(row.verb for row in rows) == [
        "user admin", "user confirm-email", "user delete", "user lock", "user reset-link",
        "user set-email", "user unlock",
    ]  # fmt: skip
    assert {row.actor for row in rows} == {"operator"}
    details = json.dumps([row.detail for row in rows])
    assert "example" not in details
    assert link.strip().rpartition("/")[2] not in details
    assert PASSWORD not in details


def test_without_a_data_folder_it_says_so(tmp_path: Path) -> None:
    environment = {"CW_DATA": str(tmp_path / "nothing")}
    result = CliRunner().invoke(main, ["hub", "user", "list"], env=environment)
    assert result.exit_code == 2
    assert "cw hub serve creates it" in result.stderr


def test_limits_of_an_account_are_set_printed_and_ended(site: Site, operator: Operator) -> None:
    site.player("Ada")
    assert operator.say("limit", "Ada") == "as usual\n"
    assert operator.say("limit", "ada", "bots", "0") == "new bots per hour and per day: 0\n"
    operator.say("limit", "Ada", "practice", "50")
    printed = json.loads(operator.say("limit", "Ada", "--json"))
    assert printed == {"user": "Ada", "limits": {"bots": 0, "practice": 50}}
    assert operator.say("limit", "Ada", "practice", "usual") == "as usual\n"
    for words, sentence in (
        (("bits", "2"), "there is no limit 'bits'; did you mean bots?"),
        (("bots", "many"), "a limit is a whole number from 0 to 10000"),
    ):
        refused = operator.type("limit", "Ada", *words)
        assert (refused.exit_code, sentence in refused.stderr) == (2, True)
