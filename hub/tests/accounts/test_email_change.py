"""Another e-mail address: confirmed by a link sent to it, while the old one is told."""

from __future__ import annotations

import re

import pytest
import requests
from sqlalchemy import select, update

from cw_hub.accounts import audit, mail, mail_delivery
from cw_hub.store.models import Mail, Ticket, User
from hub.tests.conftest import ON_BOTH, ON_SQLITE
from hub.tests.sites import PASSWORD, Site, Visitor, words_of

pytestmark = ON_SQLITE

OLD, NEW = "ada@example.org", "countess@example.org"


@pytest.fixture
def ada(site: Site) -> Visitor:
    """A player whose address is confirmed."""
    ada = site.player("Ada")
    with site.resources.database.writing() as session:
        session.execute(update(User).values(email_verified_at=site.clock()))
    return ada


def ask(ada: Visitor, email: str = NEW, password: str = PASSWORD) -> requests.Response:
    """Ask for another address."""
    return ada.fill("/settings/email", on="/settings", email=email, password=password)


def address_of(site: Site) -> tuple[str | None, bool]:
    """Return the address of the account, and whether it is confirmed."""
    with site.resources.database.reading() as session:
        email, at = session.execute(select(User.email, User.email_verified_at)).one()
        return email, at is not None


def letters(site: Site) -> dict[str, str]:
    """Return the mails by whom they are to."""
    heads = ((re.search(r"^To: (.*)$", text, re.M), text) for text in site.mails())
    return {to[1]: text for to, text in heads if to}


def link_in(site: Site, to: str = NEW) -> str:
    """Return the path of the link in a mail."""
    link = re.search(
        rf"^{re.escape(site.resources.settings.address)}(/email/.*)$", letters(site)[to], re.M
    )
    assert link
    return link[1]


@ON_BOTH
def test_a_new_address_is_confirmed_and_the_old_one_is_told(site: Site, ada: Visitor) -> None:
    assert ask(ada).status_code == 303
    assert f"We sent a link to {NEW}" in words_of(ada.open("/settings"))
    site.do_jobs()
    assert address_of(site) == (OLD, True), "nothing has changed yet"
    mails = letters(site)
    assert set(mails) == {OLD, NEW}
    assert "Subject: Your email address is about to change" in mails[OLD]
    assert "/email/" not in mails[OLD]
    assert NEW not in mails[OLD]
    path = link_in(site)
    visitor = site.visitor()
    assert "Confirm my email" in visitor.open(path).text
    assert address_of(site) == (OLD, True), "opening the link uses nothing up"
    assert visitor.fill(path).headers["Location"] == "/login"
    assert address_of(site) == (NEW, True)
    assert NEW in ada.open("/settings").text
    for late in (visitor.open(path), visitor.fill(path, on="/login")):
        assert late.status_code == 410
    with site.resources.database.reading() as session:
        user_id = session.scalars(select(User.id)).one()
        acts = audit.history(session, f"user:{user_id}")
        assert [(act.actor, act.verb) for act in acts] == [
            ("Ada", "change-email"),
            ("Ada", "ask-for-email"),
        ]
        assert NEW not in str([act.detail for act in acts])
        assert session.scalars(select(Mail.email)).all() == [None, None]


def test_the_form_says_what_is_wrong_and_counts_it_not(site: Site, ada: Visitor) -> None:
    for email, password, words in (
        ("", PASSWORD, "Please enter your e-mail"),
        ("countess", PASSWORD, "Please enter a valid e-mail address"),
        (OLD, PASSWORD, "This is already your address"),
        (NEW, "", "Your password is incorrect"),
        (NEW, "wrong", "Your password is incorrect"),
    ):
        refused = ask(ada, email, password)
        assert refused.status_code == 422
        assert words in words_of(refused)
    assert site.queue.jobs == []
    for _ in range(3):
        assert ask(ada).status_code == 303
    assert ask(ada).status_code == 429
    site.clock.advance(3601)
    assert ask(ada).status_code == 303


def test_nobody_learns_whose_address_is_known(site: Site, ada: Visitor) -> None:
    site.visitor().register("Bob", email=NEW)
    assert ask(ada).status_code == 303
    page = words_of(ada.open("/settings")).replace(NEW, "x")
    ask(ada, "nobody@example.org")
    assert words_of(ada.open("/settings")).replace("nobody@example.org", "x") == page


def test_an_address_that_nobody_has_confirmed_is_told_nothing(site: Site) -> None:
    assert ask(site.player("Ada")).status_code == 303
    site.do_jobs()
    assert set(letters(site)) == {NEW}


def test_a_later_wish_or_a_new_password_ends_an_earlier_one(site: Site, ada: Visitor) -> None:
    ask(ada)
    site.do_jobs()
    first = link_in(site)
    ask(ada, "second@example.org")
    assert site.visitor().open(first).status_code == 410
    changed = {"old_password": PASSWORD, "password": "123456", "password_repeat": "123456"}
    assert ada.fill("/settings/password", on="/settings", **changed).status_code == 200
    # The mail still waits: its link is never made.
    site.do_jobs()
    assert "second@example.org" not in letters(site)
    with site.resources.database.reading() as session:
        assert session.scalars(select(Ticket.kind).where(Ticket.kind == "email")).all() == []
    assert address_of(site) == (OLD, True)


def test_a_link_lasts_a_day_and_is_no_link_of_another_kind(site: Site, ada: Visitor) -> None:
    ask(ada)
    site.do_jobs()
    path = link_in(site)
    for other in ("verify", "reset"):
        assert site.visitor().open(path.replace("email", other)).status_code == 410
    site.clock.advance(86_401)
    assert site.visitor().open(path).status_code == 410


def test_a_mail_that_cannot_be_sent_keeps_its_address_and_a_deleted_account_none(
    site: Site, ada: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(mail_delivery, "deliver", refuse)
    ask(ada)
    site.do_jobs()
    with site.resources.database.reading() as session:
        assert set(session.scalars(select(Mail.email))) == {OLD, NEW}
        assert len(mail.due(session)) == 0
    assert ada.fill("/settings/delete", on="/settings", password=PASSWORD).status_code == 200
    with site.resources.database.reading() as session:
        assert set(session.scalars(select(Mail.email))) == {None}
