"""Rated competitions: who takes part, who plays whom, and what a result is worth."""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from sqlalchemy import Select, and_, bindparam, func, select
from sqlalchemy.orm import Session

from cw.games.registry import game_entry
from cw.hub.clock import Clock
from cw.hub.services import bots, house, maps, matches, ratings, upkeep
from cw.hub.services.competitions import SINCE, CompetitionFacts
from cw.hub.services.matches import BattleResult, Claim, Plan, Seat
from cw.hub.store.tables import (
    Bot,
    Competition,
    Match,
    MatchParticipant,
    Rating,
    RatingTotal,
    Worker,
)
from cw.league import matchmaking
from cw.league.matchmaking import Candidate, Pairing, Pool

LATELY: Final = timedelta(seconds=10)
"""The time between two ticks, usually."""

FEWEST_QUEUED: Final = 2
MOST_QUEUED: Final = 100

REMEMBERED: Final = 2000
"""Matches of a bot in which one looks when it met whom."""

GONE: Final = "a bot is no longer active"


@dataclass(frozen=True, slots=True)
class RatedSettings:
    """How a rated competition is played."""

    formats: tuple[int, ...]
    """Numbers of players."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the game."""
    same_owner: bool = False
    """Whether two bots of one owner may meet."""
    rest: float = 60.0
    """Seconds between two matches of a bot."""
    house_plays: bool = False
    """Whether house bots play each other when nobody else asks."""
    matches: int | None = None
    """After how many matches no more are made; None: there is no end."""


def settings_of(session: Session, competition: Competition | CompetitionFacts) -> RatedSettings:
    """Return how a competition is played; what its row does not say is the default.

    Without numbers of players: those for which the game has maps, or two.
    """
    said = {name: value for name, value in competition.settings.items() if name != SINCE}
    formats = tuple(said.pop("formats", ())) or maps.numbers_with_maps(session, competition.game)
    return RatedSettings(formats or (2,), **said)


def begin(session: Session, clock: Clock, game: str, title: str, **settings: Any) -> int:
    """Make the rated competition of a game, its house bots, and let all bots of the game take part.

    Returns its id. Twice: what is there stays as it is.
    """
    competition = of_game(session, game)
    if competition is None:
        competition = Competition(
            slug=game,
            game=game,
            format="rated",
            title=title,
            settings=settings,
            seed=secrets.randbits(53),
            state="running",
            created_at=clock(),
        )
        session.add(competition)
        session.flush()
    house.open_house(session, clock, game)
    bots.enter_all(session, clock, competition.id, game)
    return competition.id


def of_game(session: Session, game: str) -> Competition | None:
    """Return the rated competition of a game, None if there is none."""
    wanted = (Competition.format == "rated", Competition.slug == game)
    return session.scalars(select(Competition).where(*wanted)).one_or_none()


def competitions(session: Session) -> list[Competition]:
    """Return all rated competitions, by their game."""
    of_format = select(Competition).where(Competition.format == "rated")
    return list(session.scalars(of_format.order_by(Competition.slug)))


# Planning


def plan(session: Session, clock: Clock) -> int:
    """Call off what cannot be played any more, and pair bots; return how many matches were made.

    Twice: the second finds enough matches queued. By two at once: the second waits for the first,
    and then finds its bots playing. Late: it acts late.
    """
    return sum(plan_competition(session, clock, one) for one in competitions(session))


def plan_competition(session: Session, clock: Clock, competition: Competition) -> int:
    """Plan one competition; it is locked until the end of the transaction."""
    session.execute(
        select(Competition.id).where(Competition.id == competition.id).with_for_update()
    ).one()
    void_without_bots(session, clock, competition.id)
    ratings.release_ended(session)
    if competition.state != "running":
        return 0
    wanted = queue_length(session, clock, competition.id) - queued(session, competition.id)
    end = settings_of(session, competition).matches
    if end is not None:
        wanted = min(wanted, end - number_made(session, competition.id))
    table = Table.of(session, clock, competition) if wanted > 0 else None
    made = 0
    while table is not None and made < wanted and table.seat_next(session):
        made += 1
    return made


def void_without_bots(session: Session, clock: Clock, competition: int) -> None:
    """Call off the queued matches of which a bot is no longer active."""
    lost = (
        select(Match.match_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(Match.competition_id == competition, Match.state == "queued", Bot.status != "ACTIVE")
        .distinct()
    )
    for match_id in session.scalars(lost).all():
        matches.void(session, clock, match_id, GONE)


def queued(session: Session, competition: int) -> int:
    """Return how many matches wait."""
    waiting = and_(Match.competition_id == competition, Match.state == "queued")
    return session.scalars(select(func.count()).where(waiting)).one()


def number_made(session: Session, competition: int) -> int:
    """Return how many matches were made and not called off."""
    made = and_(Match.competition_id == competition, Match.state != "void")
    return session.scalars(select(func.count()).where(made)).one()


def queue_length(session: Session, clock: Clock, competition: int) -> int:
    """Return how many matches shall wait: enough until the next tick, and not many more."""
    now = clock()
    slots = select(func.coalesce(func.sum(Worker.slots), 0))
    live = session.scalars(slots.where(Worker.seen_at > now - upkeep.LIVE)).one()
    lately = and_(Match.competition_id == competition, Match.finished_at > now - LATELY)
    done = session.scalars(select(func.count()).where(lately, Match.state == "done")).one()
    return min(max(2 * (live + done), FEWEST_QUEUED), MOST_QUEUED)


@dataclass(slots=True)
class Table:
    """The bots of a competition that can play now, and the maps; they become fewer."""

    competition: Competition
    settings: RatedSettings
    now: datetime
    pool: Pool
    rows: Mapping[str, tuple[int, str]]
    """By the id of a bot its row and its name."""
    maps: dict[int, list[tuple[str, float | None]] | None]

    @classmethod
    def of(cls, session: Session, clock: Clock, competition: Competition) -> Table:
        """Return who can play now."""
        settings, now = settings_of(session, competition), clock()
        found = list(eligible_bots(session, competition, settings, now))
        has_maps = game_entry(competition.game).maps is not None
        return cls(
            competition,
            settings,
            now,
            Pool([one for _, _, one in found], same_owner=settings.same_owner),
            {one.bot_id: (row, name) for row, name, one in found},
            {
                players: maps.last_uses(session, competition.game, players) if has_maps else None
                for players in settings.formats
            },
        )

    def seat_next(self, session: Session) -> bool:
        """Make the next match; False if none can be filled."""
        while True:
            seed, found = secrets.randbits(matches.EXACT), None
            first = self.pool.seed_bot(house=self.settings.house_plays)
            if first is not None:
                met = last_met(session, self.rows[first.bot_id][0], self.competition.id)
                found = self.pool.pair(first, met, self.maps, Random(seed))
            if found is None:
                return False
            made = self.made(session, found, seed)
            for bot_id in found.slots:
                self.pool.remove(bot_id)
            if made:
                return True

    def made(self, session: Session, found: Pairing, seed: int) -> bool:
        """Make the rows of a match; False if one of its bots was sent into another meanwhile."""
        of_map = {} if found.map_id is None else {"map": found.map_id}
        level = sum(self.pool[one].shown for one in found.slots) / len(found.slots)
        wanted = Plan(
            "rated",
            "",
            self.competition.game,
            tuple(Seat(self.rows[one][1], bot_id=self.rows[one][0]) for one in found.slots),
            {**self.settings.options, **of_map},
            competition_id=self.competition.id,
            seed=seed % (1 << game_entry(self.competition.game).seed_bits),
            map_id=found.map_id,
            level=level,
        )
        rows = [self.rows[one][0] for one in found.slots]
        attempt = session.begin_nested()
        match = matches.plan(session, lambda: self.now, wanted)
        if not ratings.hold(session, self.competition.id, rows, match):
            attempt.rollback()
            return False
        attempt.commit()
        if found.map_id is not None:
            self.note_map(session, len(found.slots), found.map_id)
        return True

    def note_map(self, session: Session, players: int, map_id: str) -> None:
        """Note that a map was used: the next match is on another."""
        maps.note_use(session, map_id, self.now)
        self.maps[players] = [
            (name, self.now.timestamp() if name == map_id else used)
            for name, used in self.maps[players] or ()
        ]


def eligible_bots(
    session: Session, competition: Competition, settings: RatedSettings, now: datetime
) -> Iterator[tuple[int, str, Candidate]]:
    """Give the bots that can play now: the id of their row, their name, and what pairs them."""
    home = house.house_id(session)
    by_format, lately = (
        games_by_format(session, competition.id),
        games_since(session, competition.id, now - timedelta(days=1)),
    )
    # Of columns, not of rows as objects: there may be ten thousand bots.
    of_bot = (Bot.id, Bot.bot_id, Bot.name, Bot.user_id, Bot.kind, Bot.healthy_at)
    found: Iterable[Any] = session.execute(
        select(*of_bot, Rating.mu, Rating.phi, Rating.crash_streak, Rating.last_match_at)
        .join(Rating, Rating.bot_id == Bot.id)
        .where(
            Rating.competition_id == competition.id,
            Rating.playing_id.is_(None),
            Bot.status == "ACTIVE",
        )
    )
    for row, bot_id, name, user, kind, healthy_at, mu, phi, crash_streak, last_match_at in found:
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
            yield row, name, Candidate(bot_id, owner, mu - 2 * phi, last, lately[row], games)


def unix(moment: datetime | None) -> float | None:
    """Return the Unix seconds of a moment."""
    return None if moment is None else moment.timestamp()


def games_by_format(session: Session, competition: int) -> dict[int, Counter[int]]:
    """Return how often each bot has played matches of each number of players."""
    found: defaultdict[int, Counter[int]] = defaultdict(Counter)
    rows = session.execute(
        select(RatingTotal.bot_id, RatingTotal.players, RatingTotal.games).where(
            RatingTotal.competition_id == competition,
            RatingTotal.players > 0,
            RatingTotal.day == 0,
        )
    )
    for bot, players, games in rows:
        found[bot][players] = games
    return found


def games_since(session: Session, competition: int, moment: datetime) -> Counter[int]:
    """Return how many matches each bot has played since a moment."""
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
    """Return the query of `last_met`."""
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
"""Made once: a tick asks it for each match that it makes."""


def last_met(session: Session, bot: int, competition: int) -> dict[str, float]:
    """Return when a bot met whom in its last matches, in Unix seconds."""
    rows = session.execute(LAST_MET, {"bot": bot, "competition": competition})
    return {bot_id: at.timestamp() for bot_id, at in rows}


# The end of a match


def finished(session: Session, _: Clock, of: Claim, battles: Sequence[BattleResult]) -> None:
    """Rate what a match has come to; in the transaction of its end, and so once and in order."""
    ratings.apply(session, of.id, battles[-1].slots)
