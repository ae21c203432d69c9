"""Tickets: random, kept as digests, used up once, and late after their time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from cw_hub.accounts import service as accounts_service
from cw_hub.accounts import tickets
from cw_hub.store.database import Database
from cw_hub.store.models import Ticket, User
from hub.tests.conftest import StillClock

DAY = 86_400


@dataclass
class Desk:
    """Hands tickets out to one user."""

    database: Database
    clock: StillClock
    user: int

    def link(self) -> str:
        with self.database.writing() as session:
            return tickets.issue_link(session, "reset", self.user)

    def log_in(self, *, remembered: bool) -> str:
        with self.database.writing() as session:
            return tickets.issue_session(session, self.user, remembered=remembered)

    def redeem(self, ticket: str) -> tickets.Redeemed | None:
        with self.database.writing() as session:
            return tickets.redeem(session, "reset", ticket)

    def is_open(self, ticket: str) -> bool:
        with self.database.reading() as session:
            return tickets.is_open(session, "reset", ticket)

    def holder(self, ticket: str) -> tickets.Holder | None:
        with self.database.reading() as session:
            return tickets.find_holder(session, ticket)

    def bearer(self, token: str) -> tickets.Holder | None:
        with self.database.reading() as session:
            return tickets.find_bearer(session, token)

    def rows(self) -> list[Ticket]:
        with self.database.reading() as session:
            return list(session.scalars(select(Ticket).where(Ticket.user_id == self.user)))


@pytest.fixture
def desk(database: Database, hub_clock: StillClock) -> Desk:
    with database.writing() as session:
        user, ticket = accounts_service.register(session, "Ada", "ada@example.org", "hash")
        tickets.revoke(session, ticket)
    return Desk(database, hub_clock, user)


def test_a_ticket_is_long_and_its_row_does_not_hold_it(desk: Desk) -> None:
    ticket = desk.link()
    assert len(ticket) == tickets.LENGTH
    (row,) = desk.rows()
    assert row.digest == tickets.digest_of(ticket)
    assert ticket not in str(vars(row))


def test_no_two_are_alike(desk: Desk) -> None:
    assert len({desk.link() for _ in range(50)}) == 50


def test_a_link_is_used_once(desk: Desk) -> None:
    ticket = desk.link()
    assert desk.is_open(ticket)
    assert desk.redeem(ticket) == tickets.Redeemed(desk.user, None)
    assert not desk.is_open(ticket)
    assert desk.redeem(ticket) is None


def test_of_twenty_who_use_a_link_at_once_one_wins(desk: Desk) -> None:
    ticket = desk.link()
    with ThreadPoolExecutor(20) as pool:
        won = [one for one in pool.map(lambda _: desk.redeem(ticket), range(20)) if one]
    assert len(won) == 1


def test_a_link_ends_after_a_day(desk: Desk) -> None:
    ticket = desk.link()
    desk.clock.advance(DAY - 1)
    assert desk.is_open(ticket)
    desk.clock.advance(1)
    assert not desk.is_open(ticket)
    assert desk.redeem(ticket) is None


def test_a_link_is_for_its_purpose_alone(desk: Desk) -> None:
    session_ticket = desk.log_in(remembered=True)
    assert desk.redeem(session_ticket) is None
    assert desk.holder(desk.link()) is None
    link = desk.link()
    with desk.database.writing() as session:
        assert tickets.redeem(session, "verify", link) is None


@pytest.mark.parametrize("ticket", ["", "x", "x" * 43, "\ud800", "ä" * 10_000])
def test_what_is_no_ticket_opens_nothing(desk: Desk, ticket: str) -> None:
    assert desk.holder(ticket) is None
    assert desk.redeem(ticket) is None


@pytest.mark.parametrize(("remembered", "days"), [(False, 7), (True, 90)])
def test_a_session_ends_when_it_is_not_used(desk: Desk, remembered: bool, days: int) -> None:
    ticket = desk.log_in(remembered=remembered)
    desk.clock.advance(days * DAY - 1)
    assert desk.holder(ticket)
    desk.clock.advance(1)
    assert desk.holder(ticket) is None


def test_an_access_token_ends_after_its_days(desk: Desk) -> None:
    with desk.database.writing() as session:
        token = tickets.issue_token(
            session, desk.user, "t", scopes={"read"}, lifetime=timedelta(days=30)
        )
    desk.clock.advance(30 * DAY - 1)
    assert desk.bearer(token)
    desk.clock.advance(1)
    assert desk.bearer(token) is None


@pytest.mark.parametrize("column", ["locked_at", "deleted_at"])
def test_nothing_lets_in_a_user_who_is_locked_or_deleted(desk: Desk, column: str) -> None:
    ticket = desk.log_in(remembered=True)
    assert desk.holder(ticket)
    with desk.database.writing() as session:
        session.execute(update(User).values({column: desk.clock()}))
    assert desk.holder(ticket) is None


def test_a_session_that_is_used_lives_on_and_is_written_once_a_day(desk: Desk) -> None:
    ticket = desk.log_in(remembered=False)
    desk.clock.advance(DAY - 3600)
    first = desk.holder(ticket)
    assert first
    assert not tickets.is_stale(first, desk.clock())
    desk.clock.advance(5 * DAY)
    second = desk.holder(ticket)
    assert second
    assert tickets.is_stale(second, desk.clock())
    with desk.database.writing() as session:
        tickets.extend(session, second)
    desk.clock.advance(6 * DAY)
    assert desk.holder(ticket)


def test_a_session_that_has_ended_is_not_extended(desk: Desk) -> None:
    ticket = desk.log_in(remembered=False)
    holder = desk.holder(ticket)
    assert holder
    with desk.database.writing() as session:
        tickets.revoke(session, ticket)
        tickets.extend(session, holder)
    assert desk.holder(ticket) is None
