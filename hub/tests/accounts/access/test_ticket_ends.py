"""Each kind of ticket lets in a second before its end, and neither at its end nor after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, get_args

import pytest
from sqlalchemy import select, update

from cw_hub.accounts import login_cards, tickets
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.tickets import LinkKind, NewToken
from cw_hub.store.database import Database
from cw_hub.store.models import Ticket, TicketKind
from hub.tests.conftest import StillClock
from hub.tests.ladder_rows import Rows

SECOND: Final = timedelta(seconds=1)
DAY: Final = timedelta(days=1)


@dataclass
class Hall:
    """Hands out tickets of all kinds: to one user, one team and one host."""

    database: Database
    clock: StillClock
    user: int
    rows: Rows

    def log_in(self, *, remembered: bool = False) -> str:
        with self.database.writing() as session:
            return tickets.issue_session(session, self.user, remembered=remembered)

    def link(self, kind: LinkKind) -> str:
        with self.database.writing() as session:
            return tickets.issue_link(session, kind, self.user)

    def token(self) -> str:
        new = NewToken("laptop", frozenset({"read"}), 30)
        with self.database.writing() as session:
            return tickets.create(session, self.user, new)

    def enter(self, team: str | None) -> str:
        """Return the session of a team, or of the host for None, whose card lives longer."""
        self.rows.card(team)
        with self.database.writing() as session:
            ticket = login_cards.enter_by_card(session, self.rows.id, "ABCDEFGHJKMNPQRS")
        self.move_end("ABCDEFGHJKMNPQRS", timedelta(days=900))
        return ticket.ticket

    def enter_shortly(self, team: str | None) -> str:
        """Return such a session, whose card ends before it."""
        ticket = self.enter(team)
        self.move_end("ABCDEFGHJKMNPQRS", timedelta(hours=1))
        return ticket

    def move_end(self, ticket: str, lifetime: timedelta) -> None:
        ends = {"expires_at": self.clock() + lifetime}
        with self.database.writing() as session:
            its = update(Ticket).where(Ticket.digest == tickets.digest_of(ticket))
            session.execute(its.values(ends))

    def end_of(self, ticket: str) -> datetime:
        """Return when a ticket ends, or the one that it was made from, if that is sooner."""
        with self.database.reading() as session:
            row = session.get_one(Ticket, tickets.digest_of(ticket))
            parent = session.get(Ticket, row.parent) if row.parent else None
            return min(row.expires_at, parent.expires_at) if parent else row.expires_at


def finds_session(hall: Hall, ticket: str) -> bool:
    with hall.database.reading() as session:
        return tickets.find_holder(session, ticket) is not None


def finds_bearer(hall: Hall, ticket: str) -> bool:
    with hall.database.reading() as session:
        return tickets.find_bearer(session, ticket) is not None


def lists_token(hall: Hall, _: str) -> bool:
    with hall.database.reading() as session:
        return len(tickets.of_user(session, hall.user)) == 1


def counts_token(hall: Hall, _: str) -> bool:
    """Return whether a token takes one of the places that a user has."""
    new = NewToken("another", frozenset({"read"}), 365)
    with hall.database.writing() as session:
        for _number in range(tickets.MOST - 1):
            tickets.create(session, hall.user, new)
        try:
            tickets.create(session, hall.user, new)
        except tickets.TooManyTokens:
            return True
        finally:
            session.rollback()
    return False


def link_is_open(kind: LinkKind) -> Callable[[Hall, str], bool]:
    def is_open(hall: Hall, ticket: str) -> bool:
        with hall.database.reading() as session:
            return tickets.is_open(session, kind, ticket)

    return is_open


def link_is_redeemed(kind: LinkKind) -> Callable[[Hall, str], bool]:
    def is_redeemed(hall: Hall, ticket: str) -> bool:
        with hall.database.reading() as session:
            return tickets.redeem(session, kind, ticket) is not None

    return is_redeemed


def takes_card(hall: Hall, letters: str) -> bool:
    with hall.database.reading() as session:
        try:
            login_cards.enter_by_card(session, hall.rows.id, letters)
        except login_cards.UnknownCard:
            return False
    return True


def finds_team(hall: Hall, ticket: str) -> bool:
    with hall.database.reading() as session:
        return login_cards.find_team(session, "t1", ticket) is not None


def finds_host(hall: Hall, ticket: str) -> bool:
    with hall.database.reading() as session:
        return login_cards.find_host(session, "t1", ticket) is not None


@dataclass(frozen=True)
class Door:
    """How one kind of ticket is handed out, how long it is good, and what it opens."""

    kind: TicketKind
    lifetime: timedelta
    issue: Callable[[Hall], str]
    lets_in: Callable[[Hall, str], bool]


DOORS: Final = {
    "session": Door("session", 7 * DAY, Hall.log_in, finds_session),
    "remembered session": Door(
        "session", 90 * DAY, lambda hall: hall.log_in(remembered=True), finds_session
    ),
    "access token": Door("api", 30 * DAY, Hall.token, finds_bearer),
    "access token in the list": Door("api", 30 * DAY, Hall.token, lists_token),
    "access token among the most": Door("api", 30 * DAY, Hall.token, counts_token),
    "reset link": Door("reset", DAY, lambda hall: hall.link("reset"), link_is_open("reset")),
    "reset link, used": Door(
        "reset", DAY, lambda hall: hall.link("reset"), link_is_redeemed("reset")
    ),
    "link of an address": Door(
        "verify", DAY, lambda hall: hall.link("verify"), link_is_open("verify")
    ),
    "link of an address, used": Door(
        "verify", DAY, lambda hall: hall.link("verify"), link_is_redeemed("verify")
    ),
    "link to a new address": Door(
        "email", DAY, lambda hall: hall.link("email"), link_is_redeemed("email")
    ),
    "card of a team": Door("card", 180 * DAY, lambda hall: hall.rows.card("Alpha"), takes_card),
    "card of a host": Door("host_card", 180 * DAY, lambda hall: hall.rows.card(None), takes_card),
    "session of a team": Door("team", 180 * DAY, lambda hall: hall.enter("Alpha"), finds_team),
    "session of a team, by its card": Door(
        "team", DAY / 24, lambda hall: hall.enter_shortly("Alpha"), finds_team
    ),
    "session of a host": Door("host", DAY / 2, lambda hall: hall.enter(None), finds_host),
    "session of a host, by its card": Door(
        "host", DAY / 24, lambda hall: hall.enter_shortly(None), finds_host
    ),
}


@pytest.fixture
def hall(database: Database, hub_clock: StillClock) -> Hall:
    with database.writing() as session:
        user, ticket = accounts_service.register(session, "Ada", "ada@example.org", "hash")
        tickets.revoke(session, ticket)
    rows = Rows(database, hub_clock).begin()
    rows.group("GRODNO", "Alpha")
    return Hall(database, hub_clock, user, rows)


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_a_ticket_is_good_until_its_end_and_not_a_second_longer(hall: Hall, door: Door) -> None:
    ticket = door.issue(hall)
    with hall.database.reading() as session:
        its_kind = select(Ticket.kind).where(Ticket.digest == tickets.digest_of(ticket))
        assert session.scalars(its_kind).one() == door.kind
    end = hall.end_of(ticket)
    assert end == hall.clock() + door.lifetime
    hall.clock.now = end - SECOND
    assert door.lets_in(hall, ticket)
    hall.clock.now = end
    assert not door.lets_in(hall, ticket)
    hall.clock.now = end + SECOND
    assert not door.lets_in(hall, ticket)


def test_no_kind_of_ticket_is_left_out() -> None:
    assert {door.kind for door in DOORS.values()} == set(get_args(TicketKind))
