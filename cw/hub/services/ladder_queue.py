"""In which order the matches of tournaments are sent, and how many may be under way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, cast

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from cw.hub.clock import Clock
from cw.hub.services import competitions, matches
from cw.hub.services.ladder import Tournament
from cw.hub.services.matches import LOST_AFTER, OPEN, Message
from cw.hub.services.tournament_settings import FORMAT, TournamentSettings
from cw.hub.store.tables import Competition, Match, MatchParticipant, Round

AHEAD: Final = 8
"""Matches that are looked at for each that may be sent: so many may wait for a busy bot."""


def to_send(session: Session, clock: Clock, lost_after: timedelta = LOST_AFTER) -> list[Message]:
    """Return the matches of tournaments whose messages are due, and note that they are sent.

    To be sent after the commit. Twice or by two at once: the second waits for the first, and finds
    as many under way as there may be.
    """
    due = matches.is_due(clock(), lost_after)
    waiting = (
        select(Match.competition_id)
        .join(Competition, Competition.id == Match.competition_id)
        .where(due, Competition.format == FORMAT)
        .distinct()
        .order_by(Match.competition_id)
    )
    return [
        message
        for one in session.scalars(waiting).all()
        for message in to_send_of(session, clock, cast(int, one), lost_after)
    ]


def to_send_of(
    session: Session, clock: Clock, competition_id: int, lost_after: timedelta
) -> list[Message]:
    """Return the matches of a tournament whose messages are due; see `to_send`."""
    row = competitions.held(session, competition_id)
    tournament = Tournament.of(session, clock, row)
    load = Load.of(session, tournament.settings, row.id, matches.is_due(clock(), lost_after))
    chosen: list[Waiting] = []
    queues = {
        group.id: load.waiting(session, one.id)
        for group in tournament.groups
        if (one := tournament.open_round(group)) and tournament.phase(group) != "paused"
    }
    while (found := load.next_of(queues)) is not None:
        chosen.append(found)
    chosen += load.practice(session, row.id)
    sent = and_(Match.id.in_([one.id for one in chosen]), Match.state == "queued")
    if chosen:
        session.execute(update(Match).where(sent).values(sent_at=clock()))
    return [one.message for one in chosen]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A match that may be sent."""

    id: int
    group_id: int | None
    """None: it is for practice."""
    bots: tuple[int, ...]
    request_id: str | None = None

    @property
    def message(self) -> Message:
        """What says that it may be played."""
        return Message(self.id, "practice" if self.group_id is None else "ladder", self.request_id)


@dataclass(slots=True)
class Load:
    """What is under way in a tournament, and how much may be."""

    settings: TournamentSettings
    due: Any
    """What holds of matches that may be sent."""
    total: int = 0
    practising: int = 0
    by_group: Counter[int] = field(default_factory=Counter)
    by_bot: Counter[int] = field(default_factory=Counter)

    @classmethod
    def of(cls, session: Session, settings: TournamentSettings, competition: int, due: Any) -> Load:
        """Return what is under way: taken, or sent and not lost."""
        load = cls(settings, due)
        under_way = or_(Match.state == "in_progress", and_(Match.state == "queued", ~due))
        where = (Match.competition_id == competition, Match.state.in_(OPEN), under_way)
        for one in load.read(session, and_(*where)):
            load.add(one)
        return load

    def read(self, session: Session, where: Any, most: int | None = None) -> list[Waiting]:
        """Return matches in the order in which they are sent."""
        chosen = (
            select(Match.id, Match.sequence, Round.group_id, Match.request_id)
            .outerjoin(Round, Round.id == Match.round_id)
            .where(where)
            .order_by(Match.sequence, Match.id)
            .limit(most)
            .subquery()
        )
        rows = session.execute(
            select(chosen.c.id, chosen.c.group_id, chosen.c.request_id, MatchParticipant.bot_id)
            .outerjoin(MatchParticipant, MatchParticipant.match_id == chosen.c.id)
            .order_by(chosen.c.sequence, chosen.c.id, MatchParticipant.slot)
        )
        found: dict[tuple[int, int | None, str | None], list[int]] = {}
        for *match, bot in rows:
            bots = found.setdefault(tuple(match), [])
            if bot is not None:
                bots.append(bot)
        return [Waiting(id_, group, tuple(bots), of) for (id_, group, of), bots in found.items()]

    def waiting(self, session: Session, round_id: int) -> list[Waiting]:
        """Return the first matches of a round that may be sent."""
        room = self.settings.parallel - self.total
        if room <= 0:
            return []
        return self.read(session, and_(Match.round_id == round_id, self.due), AHEAD * (room + 8))

    def next_of(self, queues: Mapping[int, list[Waiting]]) -> Waiting | None:
        """Take the match that is sent next: of the group that has the fewest under way."""
        if self.total >= self.settings.parallel:
            return None
        for group in sorted(queues, key=lambda one: (self.by_group[one], one)):
            for place, one in enumerate(queues[group]):
                if self.fits(one):
                    del queues[group][place]
                    self.add(one)
                    return one
        return None

    def practice(self, session: Session, competition: int) -> list[Waiting]:
        """Take the practice matches that are sent now: one at a time where there is no room.

        They come last, and would otherwise never be played while rounds follow each other.
        """
        chosen = []
        of_practice = (Match.competition_id == competition, Match.kind == "practice", self.due)
        for one in self.read(session, and_(*of_practice), self.settings.parallel * AHEAD):
            has_room = self.total < self.settings.parallel or not self.practising
            if has_room and self.fits(one):
                self.add(one)
                chosen.append(one)
        return chosen

    def fits(self, one: Waiting) -> bool:
        """Return whether none of its bots has as many matches under way as it may."""
        return all(self.by_bot[bot] < self.settings.per_bot for bot in one.bots)

    def add(self, one: Waiting) -> None:
        """Count a match that is under way."""
        self.total += 1
        self.by_bot.update(one.bots)
        if one.group_id is None:
            self.practising += 1
        else:
            self.by_group[one.group_id] += 1
