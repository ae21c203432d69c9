"""Limits that an admin sets for one person: who meets them, and how they are told."""

from __future__ import annotations

import pytest
import requests

from cw_hub.accounts import administration, personal_limits
from cw_hub.accounts.account_limits import LOCKED
from hub.tests.conftest import ON_SQLITE
from hub.tests.program import make_admin
from hub.tests.sites import Site, Visitor, words_of

pytestmark = ON_SQLITE

PEOPLE = "/admin/people"


@pytest.fixture
def ada(site: Site) -> Visitor:
    """Return the browser of an admin."""
    visitor = site.player("Ada")
    make_admin(site, "Ada")
    return visitor


def limit(ada: Visitor, limit: str, most: str, name: str = "Bob", sure: str = "Bob") -> str:
    """Set a limit; return the words of the page that follows."""
    form = {"limit": limit, "most": most, "sure": sure}
    answer = ada.fill(f"{PEOPLE}/{name}/limit", PEOPLE, **form)
    assert answer.status_code == 303
    return words_of(ada.open(answer.headers["Location"]))


def register(bob: Visitor, number: int) -> requests.Response:
    """Register a bot."""
    form = {"game": "code-battle", "name": f"Bot{number}", "endpoint": "http://127.0.0.1:9/"}
    return bob.fill("/bots/new", on="/bots/new", **form)


def test_another_limit_counts_at_once_and_is_taken_back(site: Site, ada: Visitor) -> None:
    site.open_competition("code-battle")
    bob, cid = site.player("Bob"), site.player("Cid")
    assert "Bob: new bots per hour and per day: 2." in limit(ada, "bots", "2")
    assert [register(bob, number).status_code for number in range(3)] == [200, 200, 429]
    assert [register(cid, number).status_code for number in range(3, 6)] == [200, 200, 200]
    assert "bots: 2" in words_of(ada.open(PEOPLE))
    assert "Bob: new bots per hour and per day: as usual." in limit(ada, "bots", "")
    assert register(bob, 9).status_code == 200
    log = words_of(ada.open("/admin/log?verb=limit&of=bob"))
    assert log.count("Ada user limit") == 2


def test_what_is_locked_is_refused_with_a_sentence(site: Site, ada: Visitor) -> None:
    site.open_competition("code-battle")
    bob = site.player("Bob")
    limit(ada, "bots", "0")
    assert "bots: locked" in words_of(ada.open(PEOPLE))
    refused = register(bob, 1)
    assert (refused.status_code, LOCKED in words_of(refused)) == (403, True)
    assert bob.open("/bots/new").status_code == 200


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (("bots", "2", ""), "Nothing has changed: to confirm, type Bob."),
        (("bots", "-1", "Bob"), "Nothing has changed: a limit is a whole number from 0 to 10000."),
        (("bots", "10001", "Bob"), "Nothing has changed: a limit is a whole number"),
        (("bits", "2", "Bob"), "Nothing has changed: there is no limit 'bits'; did you mean bots?"),
    ],
)
def test_what_cannot_be_changes_nothing(
    site: Site, ada: Visitor, form: tuple[str, str, str], words: str
) -> None:
    site.player("Bob")
    name, most, sure = form
    assert words in limit(ada, name, most, sure=sure)
    with site.resources.database.reading() as session:
        bob = administration.find(session, "Bob").id
        assert personal_limits.of_user(session, bob) == {}


def test_a_deleted_account_has_no_limits_left(site: Site, ada: Visitor) -> None:
    site.player("Bob")
    limit(ada, "challenges", "500")
    with site.resources.database.writing() as session:
        bob = administration.find(session, "Bob").id
        assert personal_limits.of_user(session, bob) == {"challenges": 500}
        administration.delete(session, "Bob")
        assert personal_limits.of_user(session, bob) == {}
