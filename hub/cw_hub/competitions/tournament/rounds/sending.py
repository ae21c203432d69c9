"""Sending of tournament matches: their order, and the limits on matches under way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, cast

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.tournament.rounds.state import read_state
from cw_hub.competitions.tournament.settings import FORMAT, TournamentSettings
from cw_hub.matches import sending
from cw_hub.matches.interruptions import OPEN
from cw_hub.matches.sending import LOST_AFTER, Message
from cw_hub.store.tables import Competition, Match, MatchParticipant, Round

AHEAD: Final = 8
"""Number of matches read per match that may be sent, as others may wait for a busy bot."""


def to_send(session: Session, clock: Clock, lost_after: timedelta = LOST_AFTER) -> list[Message]:
    """Return the due messages of tournaments, and mark their matches as sent.

    Send them after the commit. Concurrent callers wait, and then count the matches already sent.
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
    """Return the due messages of a tournament; see `to_send`."""
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
    """None for a practice match."""
    bots: tuple[int, ...]
    request_id: str | None = None

    @property
    def message(self) -> Message:
        """The message that sends it."""
        return Message(self.id, "practice" if self.group_id is None else FORMAT, self.request_id)


@dataclass(slots=True)
class Load:
    """The matches under way in a tournament, and the limits of its settings."""

    settings: TournamentSettings
    is_due: Any
    """The SQL condition for matches that may be sent."""
    total: int = 0
    practising: int = 0
    by_group: Counter[int] = field(default_factory=Counter)
    by_bot: Counter[int] = field(default_factory=Counter)

    def read_under_way(self, session: Session, competition: int) -> None:
        """Count the matches under way: claimed by a worker, or sent and not lost."""
        under_way = or_(Match.state == "in_progress", and_(Match.state == "queued", ~self.is_due))
        where = (Match.competition_id == competition, Match.state.in_(OPEN), under_way)
        for match in self.read(session, and_(*where)):
            self.add(match)

    def read(self, session: Session, where: Any, most: int | None = None) -> list[WaitingMatch]:
        """Return matches in sending order."""
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
        """Take the next match from the queues, preferring the group with the fewest under way."""
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
        """Return the practice matches to send; if there is no room, one at a time.

        They come last, so without this exception continuous rounds would starve them.
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
        """Return whether each bot of a match may have another match under way."""
        return all(self.by_bot[bot] < self.settings.per_bot for bot in match.bots)

    def add(self, match: WaitingMatch) -> None:
        """Count a match as under way."""
        self.total += 1
        self.by_bot.update(match.bots)
        if match.group_id is None:
            self.practising += 1
        else:
            self.by_group[match.group_id] += 1
