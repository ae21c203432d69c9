"""Challenges and practice: a player's bot meets a public bot, once or in a series."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

from limits import RateLimitItem, RateLimitItemPerHour
from sqlalchemy import ColumnElement, and_, func, or_, select, update

from cw.errors import QuotaError, UsageError
from cw_hub.accounts import limits
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import name_key
from cw_hub.matches import planning, results
from cw_hub.matches.lookup import views_of
from cw_hub.matches.match_types import MatchType, MatchTypes, MatchView
from cw_hub.matches.planning import LOST_AFTER, Message, Plan, Seat, is_due
from cw_hub.matches.results import OPEN
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Match, MatchParticipant, Rating

NAME: Final = "challenge"

SERIES: Final = 10
"""Number of matches in a series: five seeds, each played from both seats."""

LENGTHS: Final = (1, SERIES)
"""Allowed numbers of matches in a challenge."""

ID_LENGTH: Final = 10


def new_id() -> str:
    """Return the id of a new challenge: `c_` and 8 hexadecimal digits."""
    return f"c_{secrets.token_hex(4)}"


def key_of(challenge: str, number: int) -> str:
    """Return the key of a challenge's match, which is numbered from 0."""
    return f"{challenge} {number}"


def keys_of(challenge: str) -> Sequence[str]:
    """Return all keys that matches of a challenge may have."""
    return [key_of(challenge, number) for number in range(SERIES)]


def challenger_slot(key: str) -> int:
    """Return the challenger's slot in a match: the first one, then alternating."""
    return int(key.partition(" ")[2]) % 2


def challenge_of(key: str) -> str:
    """Return the id of a match's challenge."""
    return key.partition(" ")[0]


def challenge_column() -> ColumnElement[str]:
    """Return the SQL expression for the id of a match's challenge."""
    return func.substr(Match.key, 1, ID_LENGTH)


THE_SAME: Final = "A bot does not play against itself: please choose another one."
OTHER_GAME: Final = "Both bots must play the same game."
ONE_AT_A_TIME: Final = "{name} has a challenge that is not over. Wait for its end, or stop it."
INACTIVE: Final = "{name} is {status} now: only active bots can be challenged."
OWN_INACTIVE: Final = "{name} is {status} now: only active bots can challenge others."
STOPPED: Final = "its challenger wished"


def begin(session: Session, own: int, opponent: int, matches: int) -> str:
    """Plan the matches of a bot's challenge to another one (see LENGTHS); return its id.

    Repeated and concurrent calls raise Busy until the first challenge is over. Raises UsageError if
    the bots cannot play each other.
    """
    challenger = session.get_one(Bot, own, with_for_update={"key_share": True})
    challenged = session.get_one(Bot, opponent)
    must_be_able(session, challenger, challenged)
    challenge, seed = new_id(), 0
    seats = [Seat(bot.name, bot_id=bot.id) for bot in (challenger, challenged)]
    for number in range(matches):
        if number % 2 == 0:
            seed = planning.draw_seed(challenger.game)
        turned = seats if number % 2 == 0 else seats[::-1]
        key = key_of(challenge, number)
        wanted = Plan(NAME, key, challenger.game, tuple(turned), seed=seed)
        planning.plan(session, wanted)
    return challenge


def must_be_able(session: Session, challenger: Bot, challenged: Bot) -> None:
    """Raise UsageError or Busy unless a bot can challenge another one."""
    if challenger.id == challenged.id:
        raise UsageError(THE_SAME)
    if challenger.game != challenged.game:
        raise UsageError(OTHER_GAME)
    for bot, words in ((challenger, OWN_INACTIVE), (challenged, INACTIVE)):
        if bot.status != "ACTIVE":
            raise UsageError(words.format(name=bot.name, status=bot.status.lower()))
    if is_challenging(session, challenger.id):
        raise bots_service.Busy(ONE_AT_A_TIME.format(name=challenger.name))


def is_challenging(session: Session, bot: int) -> bool:
    """Return whether a bot has an unfinished challenge of its own."""
    going_on = (
        select(Match.key, MatchParticipant.slot)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(MatchParticipant.bot_id == bot, Match.kind == NAME, Match.state.in_(OPEN))
    )
    return any(challenger_slot(key) == slot for key, slot in session.execute(going_on))


def stop(session: Session, challenge: str) -> None:
    """Cancel the waiting matches of a challenge. Idempotent."""
    its = select(Match.match_id).where(Match.kind == NAME, Match.key.in_(keys_of(challenge)))
    for match_id in session.scalars(its.where(Match.state.in_(OPEN))).all():
        results.void(session, match_id, STOPPED)


SCOPE: Final = "challenge"


@dataclass(frozen=True, slots=True)
class Allowance:
    """A player's remaining allowance."""

    left: int
    more_at: datetime | None
    """When more is available; None if nothing is used up."""


class NoneLeft(QuotaError):
    """A player has started as many matches as allowed per hour."""

    def __init__(self, limit: RateLimitItem, left: int, until: datetime) -> None:
        """Store what is left, and when more is available."""
        matches = f"{left} match{'' if left == 1 else 'es'}"
        super().__init__(f"{matches} of challenges left of {limit.amount} in an hour.")
        self.limit = limit
        self.until = until


def limit_of(hub: Resources, user_id: int) -> RateLimitItem:
    """Return how many matches a player may start per hour."""
    with hub.database.reading() as reading:
        own = limits.of_user(reading, user_id)
    return RateLimitItemPerHour(own.get("challenges", hub.settings.challenges))


def allowance(hub: Resources, user_id: int) -> Allowance | None:
    """Return a player's remaining allowance, or None while the counts are unavailable."""
    limit = limit_of(hub, user_id)
    left = hub.rate_counts.left(limit, SCOPE, str(user_id))
    if left is None:
        return None
    is_whole = left == limit.amount
    return Allowance(left, None if is_whole else hub.rate_counts.ends(limit, SCOPE, str(user_id)))


@contextmanager
def counting(hub: Resources, user_id: int, matches: int) -> Iterator[None]:
    """Count the matches that the block starts; if it raises, they are not counted.

    Raises NoneLeft if fewer are left.
    """
    limit, key = limit_of(hub, user_id), (SCOPE, str(user_id))
    if not hub.rate_counts.take(limit, *key, cost=matches):
        now = allowance(hub, user_id) or Allowance(0, None)
        raise NoneLeft(limit, now.left, now.more_at or hub.clock())
    try:
        yield
    except BaseException:
        hub.rate_counts.give_back(limit, *key, cost=matches)
        raise


@dataclass(frozen=True, slots=True)
class Side:
    """A bot in a challenge."""

    bot: int
    """The id of its row."""
    bot_id: str
    name: str
    user_id: int | None
    """The id of its owner."""


@dataclass(frozen=True, slots=True)
class ChallengeView:
    """A challenge for its page, from the challenger's point of view."""

    id: str
    game: str
    challenger: Side
    challenged: Side
    matches: Sequence[MatchView]
    """Its matches, in order."""

    @property
    def results(self) -> list[str]:
        """The challenger's results in the finished matches."""
        bot = self.challenger.bot
        return [match.result_of(bot) for match in self.matches if match.state == "done"]

    @property
    def won(self) -> int:
        """Matches won by the challenger."""
        return self.results.count("won")

    @property
    def drawn(self) -> int:
        """Drawn matches."""
        return self.results.count("drawn")

    @property
    def lost(self) -> int:
        """Matches lost by the challenger."""
        return self.results.count("lost")

    @property
    def score(self) -> float:
        """The challenger's points: 1 per win, 0.5 per draw."""
        return self.won + self.drawn / 2

    @property
    def is_over(self) -> bool:
        """Whether no match is waiting or being played."""
        return not any(match.state in OPEN for match in self.matches)

    @property
    def began_at(self) -> datetime:
        """When it started."""
        return self.matches[0].at

    @property
    def sentence(self) -> str:
        """The status text: the score so far, or the result."""
        over, all_of_them = len(self.results), len(self.matches)
        points = f"{self.score:g} : {over - self.score:g}"
        if self.is_over:
            done = "" if over == all_of_them else f" after {over} of {all_of_them} matches"
            return f"{self.challenger.name} {points} {self.challenged.name}{done}"
        if any(match.state == "in_progress" for match in self.matches):
            now = f"match {over + 1} of {all_of_them} is being played"
        else:
            now = f"match {over + 1} of {all_of_them} begins when both bots are free"
        return f"{self.challenger.name} {points} {self.challenged.name}: {now}"

    @property
    def tag(self) -> str:
        """A tag that changes whenever the page does."""
        return f"{self.id}-" + "-".join(f"{match.state}{match.attempt}" for match in self.matches)


def find(session: Session, kinds: MatchTypes, challenge: str) -> ChallengeView | None:
    """Return a challenge by its id, or None."""
    wanted = select(Match).where(Match.kind == NAME, Match.key.in_(keys_of(challenge)))
    rows = session.scalars(wanted.order_by(Match.id)).all()
    if not rows:
        return None
    first = rows[0]
    seats = session.execute(
        select(Bot.id, Bot.bot_id, Bot.name, Bot.user_id)
        .join(MatchParticipant, MatchParticipant.bot_id == Bot.id)
        .where(MatchParticipant.match_id == first.id)
        .order_by(MatchParticipant.slot)
    )
    challenger, challenged = (Side(*row) for row in seats)
    return ChallengeView(
        challenge, first.game, challenger, challenged, views_of(session, kinds, rows)
    )


def series_of(session: Session, match_id: str) -> str | None:
    """Return the id of a match's challenge, or None if that has no other match."""
    key = session.scalars(select(Match.key).where(Match.match_id == match_id)).one()
    its = (Match.kind == NAME, Match.key.in_(keys_of(challenge_of(key))))
    number = session.scalar(select(func.count()).select_from(Match).where(*its))
    return challenge_of(key) if number and number > 1 else None


@dataclass(frozen=True, slots=True)
class ChallengeRow:
    """A challenge in a list."""

    id: str
    opponent: str
    is_own: bool
    """Whether the bot of the list is the challenger."""
    matches: int
    at: datetime


LISTED: Final = 10
"""Number of challenges in a list."""


def of_bot(session: Session, bot: int) -> list[ChallengeRow]:
    """Return the last challenges by and against a bot, the latest first."""
    seat = MatchParticipant
    lasts = (
        select(func.max(Match.id), func.count())
        .join(seat, seat.match_id == Match.id)
        .where(seat.bot_id == bot, Match.kind == NAME)
        .group_by(challenge_column())
        .order_by(func.max(Match.id).desc())
        .limit(LISTED)
    )
    counts = {match: count for match, count in session.execute(lasts)}  # noqa: C416 - of rows
    if not counts:
        return []
    rows = session.execute(
        select(Match.id, Match.key, Match.at, seat.slot, seat.name)
        .join(seat, seat.match_id == Match.id)
        .where(Match.id.in_(counts), seat.bot_id != bot)
        .order_by(Match.id.desc())
    )
    return [
        ChallengeRow(challenge_of(key), name, slot != challenger_slot(key), counts[match], at)
        for match, key, at, slot, name in rows
    ]


class PracticeType(MatchType):
    """A match of one's own bot against a built-in strategy."""

    name = "practice"
    is_public = False
    battles = 2
    plays_as_competition = True
    plays_at_once = True
    keeps = "none"


PRACTICE: Final = PracticeType()


def practise(session: Session, bot: int, strategy: str) -> tuple[int, str]:
    """Plan a match of a bot against a built-in strategy; return its row id and public id.

    Repeated and concurrent calls raise Playing until the match is over. Raises WrongStatus if the
    bot is suspended or retired.
    """
    row = session.scalars(select(Bot).where(Bot.id == bot).with_for_update(key_share=True)).one()
    if row.status in ("SUSPENDED", "RETIRED"):
        raise bots_service.wrong_status(row)
    must_be_free(session, bot)
    opponent = strategy if name_key(strategy) != row.name_key else f"{strategy}-builtin"
    seats = (Seat(row.name, bot_id=bot), Seat(opponent, spec=f"builtin:{strategy}"))
    key = f"{row.bot_id} {secrets.token_hex(8)}"
    match = planning.plan(session, Plan(PRACTICE.name, key, row.game, seats))
    free = and_(Rating.bot_id == bot, Rating.playing_id.is_(None))
    session.execute(update(Rating).where(free).values(playing_id=match))
    return match, session.scalars(select(Match.match_id).where(Match.id == match)).one()


class Playing(bots_service.Busy):
    """A bot is in a match that must end before it plays another one."""

    def __init__(self, match_id: str) -> None:
        """Store the public id of that match."""
        super().__init__("Your bot is playing. Try again when its match is over.")
        self.match_id = match_id


def must_be_free(session: Session, bot: int) -> None:
    """Raise Playing if a bot is in a match that must end before it plays another one."""
    match_id = match_of(session, bot)
    if match_id is not None:
        raise Playing(match_id)


def match_of(session: Session, bot: int) -> str | None:
    """Return the public id of an unfinished match that occupies a bot, or None."""
    query = (
        select(Match.match_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .outerjoin(Rating, Rating.bot_id == MatchParticipant.bot_id)
        .where(
            MatchParticipant.bot_id == bot,
            or_(Match.kind == PRACTICE.name, Match.id == Rating.playing_id),
            Match.state.in_(results.OPEN),
        )
        .limit(1)
    )
    return session.scalar(query)


GONE: Final = "a bot is no longer active"

LONGEST_REST: Final = timedelta(minutes=10)
"""Maximum rest after a challenge match."""

MOST: Final = 200
"""Maximum number of challenges considered at the same time."""

PATIENCE: Final = 10
"""Number of competition matches that a bot may play while a challenge waits for it."""

IS_FIRST: Final = Match.id.in_(
    select(func.min(Match.id))
    .where(Match.kind == NAME, Match.state.in_(results.OPEN))
    .group_by(challenge_column())
)
"""The SQL condition that a match is the next one of its challenge."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A challenge match that may be sent, and those of its bots that play one match at a time."""

    id: int
    request_id: str | None
    bots: Sequence[int]


def to_send(session: Session, lost_after: timedelta = LOST_AFTER) -> list[Message]:
    """Return the messages of challenges whose turn it is, and reserve their bots.

    Send them after the commit. A second, concurrent caller waits, then finds the bots reserved and
    the matches sent.
    """
    call_off_gone(session)
    waiting = first_waiting(session, lost_after)
    bots = {bot for match in waiting for bot in match.bots}
    holding = holders(session, bots)
    turns = []
    for match in waiting:
        if all(holding[bot] <= {match.id} for bot in match.bots):
            for bot in match.bots:
                holding[bot].add(match.id)
            turns.append(match)
    return [
        Message(match.id, NAME, match.request_id)
        for match in turns
        if hold(session, match, lost_after)
    ]


def call_off_gone(session: Session) -> None:
    """Cancel waiting matches with a bot that no longer plays."""
    lost = (
        select(Match.match_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        .where(
            Match.kind == NAME,
            Match.state == "queued",
            Bot.status.in_(("INACTIVE", "SUSPENDED", "RETIRED")),
        )
        .distinct()
    )
    for match_id in session.scalars(lost).all():
        results.void(session, match_id, GONE)


def first_waiting(session: Session, lost_after: timedelta) -> list[Waiting]:
    """Return the next due match of each challenge, the longest waiting first.

    Their bots are locked until the end of the transaction.
    """
    due = and_(IS_FIRST, is_due(session.now(), lost_after))
    rows = session.execute(
        select(Match.id, Match.request_id).where(due).order_by(Match.id).limit(MOST)
    ).all()
    its = MatchParticipant.match_id.in_([row.id for row in rows])
    seats = session.execute(
        select(MatchParticipant.match_id, Bot.id)
        .join(Bot, Bot.id == MatchParticipant.bot_id)
        # A built-in strategy keeps no state between moves, so it can play any number of matches.
        .where(its, Bot.kind != "builtin")
        .order_by(Bot.id)
        .with_for_update(of=Bot, key_share=True)
    ).all()
    bots: defaultdict[int, list[int]] = defaultdict(list)
    for match, bot in seats:
        bots[match].append(bot)
    return [Waiting(row.id, row.request_id, bots[row.id]) for row in rows]


def overdue(session: Session) -> set[int]:
    """Return the bots that competitions leave free, so that a challenge gets its turn.

    One of the challenge's bots has played PATIENCE competition matches since the challenge started,
    or since the last challenge match of these bots.
    """
    seat = MatchParticipant
    waiting = session.execute(
        select(Match.id, Match.at, seat.bot_id)
        .join(seat, seat.match_id == Match.id)
        .join(Bot, Bot.id == seat.bot_id)
        .where(IS_FIRST, Match.state == "queued", Match.sent_at.is_(None), Bot.kind != "builtin")
        .order_by(Match.id)
        .limit(2 * MOST)
    )
    free: set[int] = set()
    for (match, begun), rows in groupby(waiting, lambda row: (row.id, row.at)):
        bots = {row.bot_id for row in rows}
        if free.isdisjoint(bots):
            since = last_end(session, bots, begun)
            if any(has_played(session, bot, match, since) for bot in bots):
                free |= bots
    return free


def last_end(session: Session, bots: Collection[int], begun: datetime) -> datetime:
    """Return when the last challenge match of some bots ended, or `begun` if that is later."""
    over = (
        select(func.max(Match.finished_at))
        .join(MatchParticipant)
        .where(
            MatchParticipant.bot_id.in_(bots),
            Match.kind == NAME,
            Match.competition_id.is_(None),
            Match.finished_at > begun,
            Match.state == "done",
        )
    )
    return session.scalar(over) or begun


def has_played(session: Session, bot: int, match: int, since: datetime) -> bool:
    """Return whether a bot has since played PATIENCE matches planned after `match`."""
    played = (
        select(Match.id)
        .join(MatchParticipant)
        .where(
            MatchParticipant.bot_id == bot,
            MatchParticipant.match_id > match,
            Match.competition_id.is_not(None),
            Match.finished_at > since,
            Match.state == "done",
        )
    )
    return len(session.scalars(played.limit(PATIENCE)).all()) == PATIENCE


def holders(session: Session, bots: Collection[int]) -> defaultdict[int, set[int]]:
    """Return, by bot, the matches that occupy it, or after which it is resting."""
    holding: defaultdict[int, set[int]] = defaultdict(set)
    seat = MatchParticipant
    rated = select(Rating.bot_id, Rating.playing_id).where(
        Rating.bot_id.in_(bots), Rating.playing_id.is_not(None)
    )
    is_under_way = or_(
        Match.state == "in_progress",
        Match.kind == PRACTICE.name,
        and_(Match.kind == NAME, Match.sent_at.is_not(None)),
    )
    played = (
        select(seat.bot_id, Match.id)
        .join(Match, Match.id == seat.match_id)
        .where(seat.bot_id.in_(bots), Match.state.in_(results.OPEN), is_under_way)
    )
    for query in (rated, played):
        for bot, match in session.execute(query):
            holding[bot].add(match)
    now = session.now()
    over = (
        select(seat.bot_id, Match.id, Match.started_at, Match.finished_at)
        .join(Match, Match.id == seat.match_id)
        .where(
            seat.bot_id.in_(bots),
            Match.kind == NAME,
            # Without a competition, so that the index leads to the latest matches.
            Match.competition_id.is_(None),
            Match.finished_at > now - LONGEST_REST,
            Match.state == "done",
        )
    )
    rows: list[Any] = list(session.execute(over))
    for bot, match, begin, end in rows:
        if end + (end - begin) > now:
            holding[bot].add(match)
    return holding


def hold(session: Session, match: Waiting, lost_after: timedelta) -> bool:
    """Mark a match as sent and reserve its bots; return False if it was sent already."""
    due = and_(Match.id == match.id, is_due(session.now(), lost_after))
    change = update(Match).where(due).values(sent_at=session.now()).returning(Match.id)
    if session.scalar(change) is None:
        return False
    free = and_(Rating.bot_id.in_(match.bots), Rating.playing_id.is_(None))
    session.execute(update(Rating).where(free).values(playing_id=match.id))
    return True
