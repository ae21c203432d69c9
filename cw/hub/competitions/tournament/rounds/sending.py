"""The order in which the matches of tournaments are sent, and how many may be under way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, cast

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.competitions import verbs as competitions
from cw.hub.competitions.tournament.rounds.state import read_state
from cw.hub.competitions.tournament.settings import FORMAT, TournamentSettings
from cw.hub.matches import sending
from cw.hub.matches.interruptions import OPEN
from cw.hub.matches.sending import LOST_AFTER, Message
from cw.hub.store.tables import Competition, Match, MatchParticipant, Round

AHEAD: Final = 8
"""Matches that are read for each that may be sent: so many may wait for a busy bot."""


def to_send(session: Session, clock: Clock, lost_after: timedelta = LOST_AFTER) -> list[Message]:
    """Return the messages of tournaments that are due, and note that they are sent.

    They are to be sent after the commit. Of two callers at once, the second waits for the first
    and counts what that has sent.
    """
    is_due = sending.is_due(clock(), lost_after)
    waiting = (
        select(Match.competition_id)
        .join(Competition, Competition.id == Match.competition_id)
        .where(is_due, Competition.format == FORMAT)
        .distinct()
        .order_by(Match.competition_id)
    )
    return [
        message
        for competition in session.scalars(waiting).all()
        for message in to_send_of(session, clock, cast(int, competition), lost_after)
    ]


def to_send_of(
    session: Session, clock: Clock, competition_id: int, lost_after: timedelta
) -> list[Message]:
    """Return the messages of a tournament that are due; see `to_send`."""
    row = competitions.lock(session, competition_id)
    tournament = read_state(session, clock, row)
    load = Load(tournament.settings, sending.is_due(clock(), lost_after))
    load.read_under_way(session, row.id)
    queues = {
        group.id: load.waiting(session, open_round.id)
        for group in tournament.groups
        if (open_round := tournament.open_round(group)) and tournament.phase(group) != "paused"
    }
    to_go: list[WaitingMatch] = []
    while (match := load.next_of(queues)) is not None:
        to_go.append(match)
    to_go += load.practice(session, row.id)
    if to_go:
        still_queued = and_(Match.id.in_([match.id for match in to_go]), Match.state == "queued")
        session.execute(update(Match).where(still_queued).values(sent_at=clock()))
    return [match.message for match in to_go]


@dataclass(frozen=True, slots=True)
class WaitingMatch:
    """A match that may be sent."""

    id: int
    group_id: int | None
    """None: it is for practice."""
    bots: tuple[int, ...]
    request_id: str | None = None

    @property
    def message(self) -> Message:
        """The message by which it is sent."""
        return Message(self.id, "practice" if self.group_id is None else FORMAT, self.request_id)


@dataclass(slots=True)
class Load:
    """What is under way in a tournament, within the limits of its settings."""

    settings: TournamentSettings
    is_due: Any
    """The condition of matches that may be sent."""
    total: int = 0
    practising: int = 0
    by_group: Counter[int] = field(default_factory=Counter)
    by_bot: Counter[int] = field(default_factory=Counter)

    def read_under_way(self, session: Session, competition: int) -> None:
        """Count the matches under way: taken by a worker, or sent and not lost."""
        under_way = or_(Match.state == "in_progress", and_(Match.state == "queued", ~self.is_due))
        where = (Match.competition_id == competition, Match.state.in_(OPEN), under_way)
        for match in self.read(session, and_(*where)):
            self.add(match)

    def read(self, session: Session, where: Any, most: int | None = None) -> list[WaitingMatch]:
        """Return matches in the order in which they are sent."""
        first = (
            select(Match.id, Match.sequence, Round.group_id, Match.request_id)
            .outerjoin(Round, Round.id == Match.round_id)
            .where(where)
            .order_by(Match.sequence, Match.id)
            .limit(most)
            .subquery()
        )
        rows = session.execute(
            select(first.c.id, first.c.group_id, first.c.request_id, MatchParticipant.bot_id)
            .outerjoin(MatchParticipant, MatchParticipant.match_id == first.c.id)
            .order_by(first.c.sequence, first.c.id, MatchParticipant.slot)
        )
        bots: dict[tuple[int, int | None, str | None], list[int]] = {}
        for *match, bot in rows:
            seats = bots.setdefault(tuple(match), [])
            if bot is not None:
                seats.append(bot)
        return [
            WaitingMatch(match, group, tuple(seats), request)
            for (match, group, request), seats in bots.items()
        ]

    def waiting(self, session: Session, round_id: int) -> list[WaitingMatch]:
        """Return the first matches of a round that may be sent."""
        room = self.settings.parallel - self.total
        if room <= 0:
            return []
        return self.read(session, and_(Match.round_id == round_id, self.is_due), AHEAD * (room + 8))

    def next_of(self, queues: Mapping[int, list[WaitingMatch]]) -> WaitingMatch | None:
        """Take the next match out of the queues: of the group with the fewest under way."""
        if self.total >= self.settings.parallel:
            return None
        for group in sorted(queues, key=lambda group: (self.by_group[group], group)):
            for index, match in enumerate(queues[group]):
                if self.fits(match):
                    del queues[group][index]
                    self.add(match)
                    return match
        return None

    def practice(self, session: Session, competition: int) -> list[WaitingMatch]:
        """Return the practice matches to be sent: one at a time where there is no room.

        They come last, and would otherwise never be played while round follows round.
        """
        to_go = []
        where = (Match.competition_id == competition, Match.kind == "practice", self.is_due)
        for match in self.read(session, and_(*where), self.settings.parallel * AHEAD):
            has_room = self.total < self.settings.parallel or not self.practising
            if has_room and self.fits(match):
                self.add(match)
                to_go.append(match)
        return to_go

    def fits(self, match: WaitingMatch) -> bool:
        """Return whether all bots of a match may have another one under way."""
        return all(self.by_bot[bot] < self.settings.per_bot for bot in match.bots)

    def add(self, match: WaitingMatch) -> None:
        """Count a match that is under way."""
        self.total += 1
        self.by_bot.update(match.bots)
        if match.group_id is None:
            self.practising += 1
        else:
            self.by_group[match.group_id] += 1
