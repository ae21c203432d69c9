"""Planning rated matches: queue length, eligible bots, and pairing."""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from sqlalchemy import Select, and_, bindparam, func, select

from cw.games.registry import game_entry
from cw.league import matchmaking
from cw.league.glicko2 import shown_rating
from cw.league.matchmaking import Candidate, Pairing, Pool
from cw_hub.bots import house
from cw_hub.competitions import maps
from cw_hub.competitions.rated import ratings
from cw_hub.competitions.rated.service import FORMAT, RatedSettings, rated_competitions, settings_of
from cw_hub.matches import friendly_ticks, planning, results
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.heartbeats import LIVE
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    Competition,
    Match,
    MatchParticipant,
    Rating,
    RatingTotal,
    User,
    Worker,
)

REMEMBERED: Final = 2000
"""Number of a bot's last matches searched for its recent opponents."""


def eligible_bots(
    session: Session, competition: Competition, settings: RatedSettings, now: datetime
) -> Iterator[tuple[int, str, Candidate]]:
    """Yield the bots that can play now: row id, name, and pairing data.

    Bots of locked accounts are left out, and so are bots with an overdue challenge, until the
    challenge has had its turn.
    """
    home = house.house_id(session)
    by_format, lately = (
        games_by_format(session, competition.id),
        games_since(session, competition.id, now - timedelta(days=1)),
    )
    # Select columns rather than objects: there may be ten thousand bots.
    of_bot = (Bot.id, Bot.bot_id, Bot.name, Bot.user_id, Bot.kind, Bot.healthy_at)
    rows: Iterable[Any] = session.execute(
        select(*of_bot, Rating.mu, Rating.phi, Rating.crash_streak, Rating.last_match_at)
        .join(Rating, Rating.bot_id == Bot.id)
        .outerjoin(User, User.id == Bot.user_id)
        .where(
            Rating.competition_id == competition.id,
            Rating.playing_id.is_(None),
            Bot.status == "ACTIVE",
            User.locked_at.is_(None),
            Bot.id.not_in(friendly_ticks.overdue(session)),
        )
    )
    for row, bot_id, name, user, kind, healthy_at, mu, phi, crash_streak, last_match_at in rows:
        last = unix(last_match_at)
        may = matchmaking.eligible(
            now.timestamp(),
            status="ACTIVE",
            healthy_at=unix(healthy_at if kind == "url" else now),
            playing=False,
            crash_streak=crash_streak,
            last_match_at=last,
            rest=settings.rest,
        )
        if may:
            owner, games = None if user == home else str(user), by_format[row]
            rating = shown_rating(mu, phi)
            yield row, name, Candidate(bot_id, owner, rating, last, lately[row], games)


def unix(moment: datetime | None) -> float | None:
    """Return a time as a Unix timestamp in seconds; None for None."""
    return None if moment is None else moment.timestamp()


def games_by_format(session: Session, competition: int) -> dict[int, Counter[int]]:
    """Return each bot's number of matches by number of players."""
    counts: defaultdict[int, Counter[int]] = defaultdict(Counter)
    rows = session.execute(
        select(RatingTotal.bot_id, RatingTotal.players, RatingTotal.games).where(
            RatingTotal.competition_id == competition,
            RatingTotal.players > 0,
            RatingTotal.day == 0,
        )
    )
    for bot, players, games in rows:
        counts[bot][players] = games
    return counts


def games_since(session: Session, competition: int, moment: datetime) -> Counter[int]:
    """Return each bot's number of matches finished since a time."""
    rows = session.execute(
        select(MatchParticipant.bot_id, func.count())
        .join(Match, Match.id == MatchParticipant.match_id)
        .where(
            Match.competition_id == competition,
            Match.finished_at > moment,
            Match.state == "done",
        )
        .group_by(MatchParticipant.bot_id)
    )
    return Counter({bot: games for bot, games in rows if bot is not None})


def last_matches() -> Select[str, datetime]:
    """Build the query that `last_met` runs."""
    matches_, seats, bots = Match.__table__, MatchParticipant.__table__, Bot.__table__
    its = (
        select(seats.c.match_id)
        .join(matches_, matches_.c.id == seats.c.match_id)
        .where(
            seats.c.bot_id == bindparam("bot"),
            matches_.c.competition_id == bindparam("competition"),
        )
        .order_by(seats.c.match_id.desc())
        .limit(REMEMBERED)
        .subquery()
    )
    return (
        select(bots.c.bot_id, func.max(matches_.c.at))
        .select_from(its)
        .join(matches_, matches_.c.id == its.c.match_id)
        .join(seats, seats.c.match_id == matches_.c.id)
        .join(bots, bots.c.id == seats.c.bot_id)
        .where(seats.c.bot_id != bindparam("bot"), matches_.c.state != "void")
        .group_by(bots.c.bot_id)
    )


LAST_MET: Final = last_matches()
"""Built once, because a tick runs it for each match that it makes."""


def last_met(session: Session, bot: int, competition: int) -> dict[str, float]:
    """Return when a bot last met each of its recent opponents, in Unix seconds."""
    rows = session.execute(LAST_MET, {"bot": bot, "competition": competition})
    return {bot_id: at.timestamp() for bot_id, at in rows}


LATELY: Final = timedelta(seconds=10)
"""The usual time between two ticks."""

FEWEST_QUEUED: Final = 2
MOST_QUEUED: Final = 100

GONE: Final = "a bot is no longer active"


def plan(session: Session) -> int:
    """Void matches of suspended bots, and pair bots; return the number of new matches.

    A repeated call finds enough matches queued. Concurrent callers wait, and then find the bots
    already playing. A late call plans late.
    """
    return sum(
        plan_competition(session, competition) for competition in rated_competitions(session)
    )


def plan_competition(session: Session, competition: Competition) -> int:
    """Plan one competition, locked until the transaction ends; return the number of new matches."""
    session.execute(
        select(Competition.id).where(Competition.id == competition.id).with_for_update()
    ).one()
    void_suspended(session, competition.id)
    ratings.release_ended(session)
    if competition.state != "running":
        return 0
    wanted = queue_length(session, competition.id) - queued(session, competition.id)
    end = settings_of(session, competition).matches
    if end is not None:
        wanted = min(wanted, end - number_of_matches(session, competition.id))
    bots = Eligible.of(session, competition) if wanted > 0 else None
    number = 0
    while bots is not None and number < wanted and bots.seat_next(session):
        number += 1
    return number


def void_suspended(session: Session, competition: int) -> None:
    """Void the queued matches of bots that the site itself has suspended.

    Owners cannot void a match (decisions 0009): if they retire or move the bot, or let it fail its
    checks, it still plays the match, or loses it.
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
        results.void(session, match_id, GONE)


def queued(session: Session, competition: int) -> int:
    """Return the number of queued matches."""
    waiting = and_(Match.competition_id == competition, Match.state == "queued")
    return session.scalars(select(func.count()).where(waiting)).one()


def number_of_matches(session: Session, competition: int) -> int:
    """Return the number of matches created and not voided."""
    counted = and_(Match.competition_id == competition, Match.state != "void")
    return session.scalars(select(func.count()).where(counted)).one()


def queue_length(session: Session, competition: int) -> int:
    """Return the target length of the queue: enough matches until the next tick, and few more."""
    now = session.now()
    slots = select(func.coalesce(func.sum(Worker.slots), 0))
    live = session.scalars(slots.where(Worker.seen_at > now - LIVE)).one()
    lately = and_(Match.competition_id == competition, Match.finished_at > now - LATELY)
    done = session.scalars(select(func.count()).where(lately, Match.state == "done")).one()
    # Short queues keep pairings fresh: a returning bot is paired within a tick or two.
    return min(max(2 * (live + done), FEWEST_QUEUED), MOST_QUEUED)


@dataclass(slots=True)
class Eligible:
    """The bots and maps available for pairing; planning a match removes its bots."""

    competition: Competition
    settings: RatedSettings
    now: datetime
    pool: Pool
    rows: Mapping[str, tuple[int, str]]
    """Each bot's row id and name, by bot id."""
    maps: dict[int, list[tuple[str, float | None]] | None]

    @classmethod
    def of(cls, session: Session, competition: Competition) -> Eligible:
        """Load the bots that can play now, and the maps."""
        settings, now = settings_of(session, competition), session.now()
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
        """Plan the next match; return False if no pairing is possible."""
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
        """Draw a map for each number of players from the least recently used half.

        The draw keeps the map from being predictable from earlier matches.
        """
        return {
            players: all_maps and [secrets.choice(maps.longest_unused(all_maps))]
            for players, all_maps in self.maps.items()
        }

    def plan_match(self, session: Session, pairing: Pairing, seed: int) -> bool:
        """Create the rows of a match; return False if another match has just taken a bot."""
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
        # One savepoint per match, because a bot taken in the meantime must not undo the other
        # matches of this tick.
        attempt = session.begin_nested()
        match = planning.plan(session, wanted)
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
