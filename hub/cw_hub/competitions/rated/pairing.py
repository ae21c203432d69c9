"""Planning of rated matches: how many to queue, and whom to pair."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Final

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from cw.games.registry import game_entry
from cw.league.matchmaking import Pairing, Pool
from cw_hub.clock import Clock
from cw_hub.competitions import maps
from cw_hub.competitions.rated import ratings
from cw_hub.competitions.rated.candidates import eligible_bots, last_met
from cw_hub.competitions.rated.entry import FORMAT
from cw_hub.competitions.rated.settings import RatedSettings
from cw_hub.competitions.rated.verbs import rated_competitions, settings_of
from cw_hub.matches import interruptions, planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.health.heartbeats import LIVE
from cw_hub.store.tables import (
    Bot,
    Competition,
    Match,
    MatchParticipant,
    Worker,
)

LATELY: Final = timedelta(seconds=10)
"""The usual time between two ticks."""

FEWEST_QUEUED: Final = 2
MOST_QUEUED: Final = 100

GONE: Final = "a bot is no longer active"


def plan(session: Session, clock: Clock) -> int:
    """Void matches of suspended bots, and pair bots; return the number of new matches.

    A repeated call finds enough matches queued. Concurrent callers wait, and then find the bots
    playing. A late call plans late.
    """
    return sum(
        plan_competition(session, clock, competition) for competition in rated_competitions(session)
    )


def plan_competition(session: Session, clock: Clock, competition: Competition) -> int:
    """Plan one competition, which stays locked until the end of the transaction."""
    session.execute(
        select(Competition.id).where(Competition.id == competition.id).with_for_update()
    ).one()
    void_suspended(session, clock, competition.id)
    ratings.release_ended(session)
    if competition.state != "running":
        return 0
    wanted = queue_length(session, clock, competition.id) - queued(session, competition.id)
    end = settings_of(session, competition).matches
    if end is not None:
        wanted = min(wanted, end - number_of_matches(session, competition.id))
    bots = Eligible.of(session, clock, competition) if wanted > 0 else None
    number = 0
    while bots is not None and number < wanted and bots.seat_next(session):
        number += 1
    return number


def void_suspended(session: Session, clock: Clock, competition: int) -> None:
    """Void the queued matches of bots that the site itself has suspended.

    Owners cannot void a match (decisions 0009): if they retire or move the bot, or let it fail its
    checks, it plays the match all the same, or loses it.
    """
    lost = (
        select(Match.match_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(
            Match.competition_id == competition,
            Match.state == "queued",
            Bot.status == "SUSPENDED",
        )
        .distinct()
    )
    for match_id in session.scalars(lost).all():
        interruptions.void(session, clock, match_id, GONE)


def queued(session: Session, competition: int) -> int:
    """Return the number of queued matches."""
    waiting = and_(Match.competition_id == competition, Match.state == "queued")
    return session.scalars(select(func.count()).where(waiting)).one()


def number_of_matches(session: Session, competition: int) -> int:
    """Return the number of matches made and not voided."""
    counted = and_(Match.competition_id == competition, Match.state != "void")
    return session.scalars(select(func.count()).where(counted)).one()


def queue_length(session: Session, clock: Clock, competition: int) -> int:
    """Return how many matches to queue: enough until the next tick, and few more."""
    now = clock()
    slots = select(func.coalesce(func.sum(Worker.slots), 0))
    live = session.scalars(slots.where(Worker.seen_at > now - LIVE)).one()
    lately = and_(Match.competition_id == competition, Match.finished_at > now - LATELY)
    done = session.scalars(select(func.count()).where(lately, Match.state == "done")).one()
    # Short queues keep pairings fresh: a returning bot is paired within a tick or two.
    return min(max(2 * (live + done), FEWEST_QUEUED), MOST_QUEUED)


@dataclass(slots=True)
class Eligible:
    """The bots and maps available for pairing; the bots become fewer as matches are made."""

    competition: Competition
    settings: RatedSettings
    now: datetime
    pool: Pool
    rows: Mapping[str, tuple[int, str]]
    """The row id and name of each bot, by bot id."""
    maps: dict[int, list[tuple[str, float | None]] | None]

    @classmethod
    def of(cls, session: Session, clock: Clock, competition: Competition) -> Eligible:
        """Return the bots that can play now."""
        settings, now = settings_of(session, competition), clock()
        if settings.warm_up > 0 and number_of_matches(session, competition.id) < settings.warm_up:
            settings = replace(settings, rest=0.0)
        eligible = list(eligible_bots(session, competition, settings, now))
        has_maps = game_entry(competition.game).maps is not None
        return cls(
            competition,
            settings,
            now,
            Pool([candidate for _, _, candidate in eligible], same_owner=settings.same_owner),
            {candidate.bot_id: (row, name) for row, name, candidate in eligible},
            {
                players: maps.last_uses(session, competition.game, players) if has_maps else None
                for players in settings.formats
            },
        )

    def seat_next(self, session: Session) -> bool:
        """Plan the next match; return False if none can be filled."""
        while True:
            seed, pairing = secrets.randbits(planning.EXACT), None
            first = self.pool.seed_bot(house=self.settings.house_plays)
            if first is not None:
                met = last_met(session, self.rows[first.bot_id][0], self.competition.id)
                pairing = self.pool.pair(first, met, self.drawn_maps(), Random(seed))
            if pairing is None:
                return False
            is_planned = self.plan_match(session, pairing, seed)
            for bot_id in pairing.slots:
                self.pool.remove(bot_id)
            if is_planned:
                return True

    def drawn_maps(self) -> dict[int, list[tuple[str, float | None]] | None]:
        """Draw a map for each number of players from the half that was unused longest.

        Drawing keeps the map unpredictable from earlier matches.
        """
        return {
            players: all_maps and [secrets.choice(maps.longest_unused(all_maps))]
            for players, all_maps in self.maps.items()
        }

    def plan_match(self, session: Session, pairing: Pairing, seed: int) -> bool:
        """Create the rows of a match; return False if one of its bots was just taken by another."""
        map_option = {} if pairing.map_id is None else {"map": pairing.map_id}
        level = sum(self.pool[bot_id].shown_rating for bot_id in pairing.slots) / len(pairing.slots)
        wanted = Plan(
            FORMAT,
            "",
            self.competition.game,
            tuple(
                Seat(self.rows[bot_id][1], bot_id=self.rows[bot_id][0]) for bot_id in pairing.slots
            ),
            {**self.settings.options, **map_option},
            competition_id=self.competition.id,
            seed=seed % (1 << game_entry(self.competition.game).seed_bits),
            map_id=pairing.map_id,
            level=level,
        )
        rows = [self.rows[bot_id][0] for bot_id in pairing.slots]
        # A savepoint per match: a bot taken meanwhile must not undo the other matches of this tick.
        attempt = session.begin_nested()
        match = planning.plan(session, lambda: self.now, wanted)
        if not ratings.hold(session, self.competition.id, rows, match):
            attempt.rollback()
            return False
        attempt.commit()
        if pairing.map_id is not None:
            self.note_map(session, len(pairing.slots), pairing.map_id)
        return True

    def note_map(self, session: Session, players: int, map_id: str) -> None:
        """Record the use of a map, so that the next match uses another."""
        maps.note_use(session, map_id, self.now)
        self.maps[players] = [
            (name, self.now.timestamp() if name == map_id else used)
            for name, used in self.maps[players] or ()
        ]
