"""Of two servers of pages, one is used to keep what the other has ended, or to guess twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hub.tests.attacks.hubs import Hub, Player, open_hub
from hub.tests.campaign import Role, roles, wait_until
from hub.tests.sites import PASSWORD, Visitor, words_of
from tests.ports import free_port

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hub, str]]:
    """A hub, and the address of a second server of its pages."""
    folder, port = tmp_path_factory.mktemp("pair"), free_port()
    with open_hub("roles", folder) as hub:
        second = Role(
            ["serve", "--no-worker", "--port", str(port)], hub.environment, folder / "second.log"
        )
        with roles(second):
            wait_until(lambda: "Hub: " in second.log.read_text(), "the second server")
            hub.processes.append(second)
            yield hub, f"http://127.0.0.1:{port}"
            assert "Traceback" not in hub.logs()


def elsewhere(visitor: Visitor, address: str) -> Visitor:
    """Return a browser with a copy of the cookies of another, at another server."""
    copy = Visitor(address)
    copy.cookies.update(visitor.cookies)
    return copy


def test_a_session_ends_on_both(pair: tuple[Hub, str]) -> None:
    hub, second = pair
    for number, end in enumerate(("log out", "password", "lock", "delete", "end sessions")):
        name = f"ender{number}"
        player = hub.player(name)
        copy, there = elsewhere(player, hub.address), elsewhere(player, second)
        assert copy.is_player()
        assert there.is_player()
        if end == "log out":
            there.fill("/logout", on="/settings")
        elif end == "password":
            new = {"password": "another horse", "password_repeat": "another horse"}
            there.fill("/settings/password", on="/settings", old_password=PASSWORD, **new)
        elif end == "lock":
            hub.operate("user", "lock", name)
        elif end == "end sessions":
            admin = hub.player("adminofall")
            hub.operate("user", "admin", "adminofall")
            path = f"/admin/people/{name}/end-sessions"
            answer = admin.fill(path, on="/admin/people", sure=name)
            assert answer.status_code == 303, answer.text
        else:
            there.fill("/settings/delete", on="/settings", password=PASSWORD)
        for address in (hub.address, second):
            assert not elsewhere(copy, address).is_player(), (end, address)
            assert name not in words_of(elsewhere(copy, address).open("/")), end


def test_a_form_of_one_server_is_taken_by_the_other_and_no_other_form(
    pair: tuple[Hub, str],
) -> None:
    hub, second = pair
    ada, bob = hub.player("formada"), hub.player("formbob")
    token = ada.token("/settings")
    there = elsewhere(ada, second)
    form = {"csrf_token": token, "country": "GR", "born": ""}
    assert there.send_form("/settings", form).status_code == 303
    assert elsewhere(bob, second).send_form("/settings", form).status_code == 400
    assert Visitor(second).send_form("/settings", form).status_code in (302, 303, 400)


def test_limits_count_on_both(pair: tuple[Hub, str]) -> None:
    hub, second = pair
    hub.player("guessed")
    codes = []
    for number in range(14):
        visitor = Visitor((hub.address, second)[number % 2])
        codes.append(visitor.log_in("guessed", f"wrong password {number}").status_code)
    assert 429 in codes[:12], codes
    last = Visitor(second).log_in("guessed", "wrong again").status_code
    assert last == 429


def test_no_page_of_one_is_kept_for_another(pair: tuple[Hub, str]) -> None:
    hub, second = pair
    ada = hub.player("cachedada")
    for path in ("/", "/ranking", "/games/", "/settings", "/bots"):
        own = ada.open(path)
        tag = own.headers.get("ETag", "")
        for address in (hub.address, second):
            visitor = Visitor(address)
            answer = visitor.open(path, headers={"If-None-Match": tag} if tag else {})
            assert "cachedada" not in answer.text, path
            if "cachedada" in own.text:
                assert answer.status_code != 304, path
        if "cachedada" in own.text:
            assert own.headers["Cache-Control"] in ("no-store", "private, no-cache"), path


def test_a_player_registers_a_name_once(pair: tuple[Hub, str]) -> None:
    hub, second = pair
    Player(hub.address, "OnlyOne")
    for name in ("OnlyOne", "onlyone", "ONLYONE"):
        answer = Visitor(second).register(name, email=f"{name}2@example.org")
        assert answer.status_code != 303
