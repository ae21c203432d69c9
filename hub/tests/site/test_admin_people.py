"""What admins do with accounts, and how they read what was done."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from cw_hub.store.models import User
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


def do(ada: Visitor, verb: str, name: str, sure: str) -> str:
    """Press a button beside a name; return the page that follows."""
    answer = ada.fill(f"{PEOPLE}/{name}/{verb}", PEOPLE, sure=sure)
    assert answer.status_code == 303
    return words_of(ada.open(answer.headers["Location"]))


def test_accounts_are_locked_and_unlocked_by_who_types_their_name(site: Site, ada: Visitor) -> None:
    bob = site.player("Bob")
    assert "Nothing has changed: to confirm, type Bob." in do(ada, "lock", "bob", "")
    assert bob.is_player()
    assert "Bob is locked" in do(ada, "lock", "bob", "BOB")
    assert not bob.is_player()
    assert "Your account is locked" in words_of(bob.open(bob.log_in("Bob").headers["Location"]))
    assert "Bob may log in again." in do(ada, "unlock", "Bob", "Bob")
    bob.log_in("Bob")
    assert bob.is_player()
    assert "All sessions of Bob have ended." in do(ada, "end-sessions", "Bob", "Bob")
    assert not bob.is_player()
    log = words_of(ada.open("/admin/log?who=ada&verb=lock&of=user%3A"))
    assert log.count("Ada user lock") == log.count("Ada user unlock") == 1
    assert "end-sessions" not in log
    assert "No log entries match this filter." in words_of(ada.open("/admin/log?who=nobody"))


def test_an_address_that_mail_does_not_reach_is_confirmed_by_hand(site: Site, ada: Visitor) -> None:
    site.player("Bob")
    assert "to confirm, type Bob." in do(ada, "confirm-email", "Bob", "")
    assert "The address of Bob was confirmed." in do(ada, "confirm-email", "Bob", "Bob")
    words = words_of(ada.open(f"{PEOPLE}?q=bob"))
    assert "Bob confirmed" in words
    assert "Confirm address" not in words
    do(ada, "confirm-email", "Bob", "Bob")
    log = words_of(ada.open("/admin/log?of=bob"))
    assert log.count("Ada user confirm-email Bob user:") == 1
    site.do_jobs()
    assert not any("bob@" in mail for mail in site.mails())
    site.player("Carl")
    with site.resources.database.writing() as session:
        session.execute(update(User).where(User.username == "Carl").values(email=None))
    assert "Carl has no email address." in do(ada, "confirm-email", "Carl", "Carl")


def test_admins_and_strangers_are_left_alone(ada: Visitor) -> None:
    assert "Only the operator can change accounts of admins" in do(ada, "lock", "Ada", "Ada")
    assert ada.fill(f"{PEOPLE}/nobody/lock", PEOPLE, sure="nobody").status_code == 404
    assert ada.is_player()


def test_accounts_are_found_by_a_part_of_their_name(site: Site, ada: Visitor) -> None:
    site.player("Bob")
    words = words_of(ada.open(f"{PEOPLE}?q=OB"))
    assert "Bob not confirmed" in words
    assert "example.org" not in words
    assert "No usernames match this filter." in words_of(ada.open(f"{PEOPLE}?q=zz%25"))
