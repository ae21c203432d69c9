"""Friendly matches, which change no rating: practice, challenges, and comparisons of versions.

A player's bot plays a built-in strategy (practice), or a public bot, once or in a series (a
challenge); or one of its versions plays another one, or a strategy, in pairs of games until a test
decides (a comparison). `friendly_ticks.py` determines when those that wait are played.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from limits import RateLimitItem, RateLimitItemPerHour
from sqlalchemy import ColumnElement, Row, and_, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import aliased

from cw.errors import QuotaError, UsageError
from cw.games.registry import load_strategies
from cw.lab.comparison import Evidence, standing, verdict
from cw.league.strength_tests import Hypotheses, PairScores
from cw_hub.accounts import personal_limits
from cw_hub.bots import programs, versions
from cw_hub.bots.addresses import BUILTIN, PROGRAM
from cw_hub.bots.service import ASKED, BotView, Busy, may_change, name_key
from cw_hub.matches import planning, results
from cw_hub.matches.lookup import views_of
from cw_hub.matches.match_types import ExternalBots, MatchTypes, MatchView, SeatView
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.results import OPEN, Claim
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    BotVersion,
    Comparison,
    ComparisonState,
    Match,
    MatchParticipant,
    Rating,
    User,
)

PRACTICE: Final = "practice"
CHALLENGE: Final = "challenge"
COMPARISON: Final = "comparison"

LISTED: Final = 10
"""Number of challenges, and of comparisons, listed on a bot's page."""

LISTED_PRACTICE: Final = 20
"""Number of practice matches listed there."""

NO_OPPONENT: Final = "Please choose an opponent."
ONE_CHALLENGE: Final = "{} has a challenge that is not over. Wait for its end, or stop it."
ONE_COMPARISON: Final = "You are comparing versions already. Wait until that is over, or stop it."


def key_of(series: str | int, number: int) -> str:
    """Return the key of a match of a challenge or comparison, which is numbered from 0."""
    return f"{series} {number}"


def series_in(key: str) -> str:
    """Return the id of the challenge or comparison of a match."""
    return key.partition(" ")[0]


def is_of(kind: str, series: str | int, numbers: Iterable[int]) -> ColumnElement[bool]:
    """Return the SQL condition for matches of a challenge or comparison, by their numbers."""
    return and_(Match.kind == kind, Match.key.in_([key_of(series, number) for number in numbers]))


def call_off(session: Session, which: ColumnElement[bool], reason: str) -> None:
    """Cancel those of some matches that are waiting. Idempotent."""
    waiting = select(Match.match_id).where(which, Match.state.in_(OPEN))
    for match_id in session.scalars(waiting).all():
        results.void(session, match_id, reason)


def name_of_strategy(strategy: str, opponent: str) -> str:
    """Return the name under which a built-in strategy plays, which differs from its opponent's."""
    return strategy if name_key(strategy) != name_key(opponent) else f"{strategy}-builtin"


# Practice


def practise(session: Session, bot: int, strategy: str) -> tuple[int, str]:
    """Plan a match of a bot against a built-in strategy; return its row id and public id.

    Repeated and concurrent calls raise Playing until the match is over. Raises WrongStatus if the
    bot is suspended or retired.
    """
    match, match_id = plan_practice(session, may_change(session, bot), strategy)
    reserve(session, [bot], match)
    return match, match_id


def plan_practice(
    session: Session,
    bot: Bot,
    strategy: str,
    options: Mapping[str, Any] | None = None,
    competition: int | None = None,
) -> tuple[int, str]:
    """Plan a practice match of a bot whose row is locked; return its row id and public id.

    Raises Playing if the bot is in a match that must end first.
    """
    must_be_free(session, bot.id)
    opponent = name_of_strategy(strategy, bot.name)
    seats = (Seat(bot.name, bot_id=bot.id), Seat(opponent, spec=f"{BUILTIN}{strategy}"))
    key = f"{bot.bot_id} {secrets.token_hex(8)}"
    wanted = Plan(PRACTICE, key, bot.game, seats, options or {}, competition)
    match = planning.plan(session, wanted)
    return match, session.scalars(select(Match.match_id).where(Match.id == match)).one()


def practice_of(
    session: Session, kinds: MatchTypes, bot: int, most: int = LISTED_PRACTICE
) -> list[MatchView]:
    """Return a bot's last practice matches, the latest first."""
    its = select(MatchParticipant.match_id).where(MatchParticipant.bot_id == bot)
    wanted = select(Match).where(Match.id.in_(its), Match.kind == PRACTICE)
    rows = session.scalars(wanted.order_by(Match.id.desc()).limit(most)).all()
    return views_of(session, kinds, rows)


class Playing(Busy):
    """A bot is in a match that must end before it plays another one."""

    def __init__(self, match_id: str) -> None:
        """Store the public id of that match."""
        super().__init__("Your bot is playing. Try again when its match is over.")
        self.match_id = match_id


def must_be_free(session: Session, bot: int) -> None:
    """Raise Playing if a bot is in a match that must end before it plays another one."""
    query = (
        select(Match.match_id)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .outerjoin(Rating, Rating.bot_id == MatchParticipant.bot_id)
        .where(
            MatchParticipant.bot_id == bot,
            or_(Match.kind == PRACTICE, Match.id == Rating.playing_id),
            Match.state.in_(OPEN),
        )
        .limit(1)
    )
    match_id = session.scalar(query)
    if match_id is not None:
        raise Playing(match_id)


def reserve(session: Session, bots: Iterable[int], match: int) -> None:
    """Keep rated matches from bots until a match is over."""
    free = and_(Rating.bot_id.in_(bots), Rating.playing_id.is_(None))
    session.execute(update(Rating).where(free).values(playing_id=match))


# Challenges

SERIES: Final = 10
"""Number of matches in a series: five seeds, each played from both seats."""

LENGTHS: Final = (1, SERIES)
"""Allowed numbers of matches in a challenge."""

CHALLENGE_ID: Final = func.substr(Match.key, 1, len("c_01234567"))
"""The SQL expression for the id of a match's challenge."""


def new_id() -> str:
    """Return the id of a new challenge: `c_` and 8 hexadecimal digits."""
    return f"c_{secrets.token_hex(4)}"


class Allowance(NamedTuple):
    """How many matches of challenges a player may still start."""

    left: int
    most: int
    """How many they may start per hour."""
    more_at: datetime | None
    """When more are available; None if nothing is used up."""


class NoneLeft(QuotaError):
    """A player has started as many matches as allowed per hour."""

    def __init__(self, limit: RateLimitItem, left: int, until: datetime) -> None:
        """Store what is left, and when more is available."""
        matches = f"{left} match{'' if left == 1 else 'es'}"
        super().__init__(f"{matches} of challenges left of {limit.amount} in an hour.")
        self.limit = limit
        self.until = until


def limit_of(hub: Resources, user_id: int) -> RateLimitItem:
    """Return how many matches of challenges a player may start per hour."""
    with hub.database.reading() as reading:
        own = personal_limits.of_user(reading, user_id)
    return RateLimitItemPerHour(own.get("challenges", hub.settings.challenges))


def allowance(hub: Resources, user_id: int) -> Allowance | None:
    """Return a player's remaining allowance, or None while the counts are unavailable."""
    limit, key = limit_of(hub, user_id), (CHALLENGE, str(user_id))
    left = hub.rate_counts.left(limit, *key)
    if left is None:
        return None
    more_at = None if left == limit.amount else hub.rate_counts.ends(limit, *key)
    return Allowance(left, limit.amount, more_at)


def begin_challenge(hub: Resources, user_id: int, own: int, opponent: int, matches: int) -> str:
    """Start a challenge by a player's bot; return its id.

    Raises the errors of `plan_challenge`, and NoneLeft; in both cases nothing is counted.
    """
    if matches not in LENGTHS:
        raise UsageError(f"Please choose one match, or a series of {SERIES}.")
    limit, key = limit_of(hub, user_id), (CHALLENGE, str(user_id))
    if not hub.rate_counts.take(limit, *key, cost=matches):
        left, until = hub.rate_counts.left(limit, *key), hub.rate_counts.ends(limit, *key)
        raise NoneLeft(limit, left or 0, until or hub.clock())
    try:
        with hub.database.writing() as session:
            return plan_challenge(session, own, opponent, matches)
    except BaseException:
        hub.rate_counts.give_back(limit, *key, cost=matches)
        raise


def plan_challenge(session: Session, own: int, opponent: int, matches: int) -> str:
    """Plan the matches of a bot's challenge to another one (see LENGTHS); return its id.

    Repeated and concurrent calls raise Busy until the first challenge is over. Raises UsageError if
    the bots cannot play each other.
    """
    challenger = versions.locked(session, own)
    challenged = session.get_one(Bot, opponent)
    if own == opponent:
        raise UsageError("A bot does not play against itself: please choose another one.")
    if challenger.game != challenged.game:
        raise UsageError("Both bots must play the same game.")
    for bot, can in ((challenger, "can challenge others"), (challenged, "can be challenged")):
        if bot.status != "ACTIVE":
            raise UsageError(f"{bot.name} is {bot.status.lower()} now: only active bots {can}.")
    if is_challenging(session, own):
        raise Busy(ONE_CHALLENGE.format(challenger.name))
    challenge, game = new_id(), challenger.game
    seats = tuple(Seat(bot.name, bot_id=bot.id) for bot in (challenger, challenged))
    seeds = [planning.draw_seed(game) for _ in range(0, matches, 2)]
    for number in range(matches):
        key, seed = key_of(challenge, number), seeds[number // 2]
        turned = seats[::-1] if number % 2 else seats
        planning.plan(session, Plan(CHALLENGE, key, game, turned, seed=seed))
    return challenge


def is_challenging(session: Session, bot: int) -> bool:
    """Return whether a bot has an unfinished challenge of its own."""
    going_on = (
        select(Match.key, MatchParticipant.slot)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(MatchParticipant.bot_id == bot, Match.kind == CHALLENGE, Match.state.in_(OPEN))
    )
    # The challenger has the first slot in the first match, and then every other one.
    return any(int(key.split()[1]) % 2 == slot for key, slot in session.execute(going_on))


def stop_challenge(session: Session, challenge: str) -> None:
    """Cancel the waiting matches of a challenge. Idempotent."""
    call_off(session, is_of(CHALLENGE, challenge, range(SERIES)), "its challenger wished")


@dataclass(frozen=True, slots=True)
class ChallengeView:
    """A challenge for its page, from the challenger's point of view."""

    id: str
    game: str
    challenger: SeatView
    challenged: SeatView
    matches: Sequence[MatchView]
    """Its matches, in order."""

    @property
    def results(self) -> Counter[str]:
        """How often the challenger `won`, `drawn` and `lost` the finished matches."""
        bot = self.challenger.bot or 0
        return Counter(match.result_of(bot) for match in self.matches if match.state == "done")

    @property
    def is_over(self) -> bool:
        """Whether no match is waiting or being played."""
        return not any(match.state in OPEN for match in self.matches)

    @property
    def sentence(self) -> str:
        """The status text: the score so far, or the result."""
        over, all_of_them = self.results.total(), len(self.matches)
        score = self.results["won"] + self.results["drawn"] / 2
        lead = f"{self.challenger.name} {score:g} : {over - score:g} {self.challenged.name}"
        if self.is_over:
            return lead if over == all_of_them else f"{lead} after {over} of {all_of_them} matches"
        is_on = any(match.state == "in_progress" for match in self.matches)
        now = "is being played" if is_on else "begins when both bots are free"
        return f"{lead}: match {over + 1} of {all_of_them} {now}"

    @property
    def tag(self) -> str:
        """A tag that changes whenever the page does."""
        return f"{self.id}-" + "-".join(f"{match.state}{match.attempt}" for match in self.matches)


def find_challenge(session: Session, kinds: MatchTypes, challenge: str) -> ChallengeView | None:
    """Return a challenge by its id, or None."""
    its = is_of(CHALLENGE, challenge, range(SERIES))
    rows = session.scalars(select(Match).where(its).order_by(Match.id)).all()
    if not rows:
        return None
    matches = views_of(session, kinds, rows)
    # Views do not tell the slots of a match with hidden information that is not over.
    slot = (MatchParticipant.match_id == rows[0].id, MatchParticipant.slot == 0)
    first = session.scalar(select(MatchParticipant.bot_id).where(*slot))
    challenger, challenged = sorted(matches[0].seats, key=lambda seat: seat.bot != first)
    return ChallengeView(challenge, rows[0].game, challenger, challenged, matches)


def series_of(session: Session, match_id: str) -> str | None:
    """Return the id of a match's challenge, or None if that has no other match."""
    key = session.scalars(select(Match.key).where(Match.match_id == match_id)).one()
    second = select(Match.id).where(is_of(CHALLENGE, series_in(key), [1]))
    return None if session.scalar(second) is None else series_in(key)


def challenges_of(session: Session, bot: int) -> Sequence[Row[str, str, bool, int, datetime]]:
    """Return the last challenges by and against a bot, the latest first.

    Each row has the `id`, the name of the `opponent`, whether the challenge `is_own`, the number of
    `matches`, and the time `at` which it began.
    """
    own, other = aliased(MatchParticipant), aliased(MatchParticipant)
    first_slot = func.min(own.slot).filter(Match.key.endswith(" 0"))
    return session.execute(
        select(
            CHALLENGE_ID.label("id"),
            other.name.label("opponent"),
            (first_slot == 0).label("is_own"),
            func.count().label("matches"),
            func.min(Match.at).label("at"),
        )
        .join(own, and_(own.match_id == Match.id, own.bot_id == bot))
        .join(other, and_(other.match_id == Match.id, other.bot_id != bot))
        .where(Match.kind == CHALLENGE)
        .group_by(CHALLENGE_ID, other.name)
        .order_by(func.max(Match.id).desc())
        .limit(LISTED)
    ).all()


# Comparisons

GAMES: Final = 2
"""Number of games per match of a comparison: each version takes each seat once."""

MOST_PAIRS: Final = 200
"""Maximum number of pairs in a comparison, which users see as 400 matches."""

SHOWN_MATCHES: Final = 40
"""Number of latest matches shown on a comparison's page."""

HYPOTHESES: Final = Hypotheses()


def begin_comparison(session: Session, bot: BotView, new: int, against: int | str) -> int:
    """Start comparing a version of a bot with another one, or with a strategy; return its id.

    Repeated and concurrent calls raise Busy. Raises NotReady if a version cannot play, WrongStatus
    if the bot is suspended or retired, and UsageError if the opponent is invalid.
    """
    may_change(session, bot.id)
    versions.ready(session, bot.id, new)
    if isinstance(against, str):
        old, strategy = None, against
        if strategy not in load_strategies(bot.game):
            raise UsageError(NO_OPPONENT)
    else:
        old, strategy = against, ""
        versions.ready(session, bot.id, old)
        if old == new:
            raise UsageError("Please choose two different versions.")
    its = {"user_id": bot.user_id, "bot_id": bot.id, "created_at": session.now()}
    comparison = Comparison(**its, new=new, old=old, strategy=strategy)
    try:
        with session.begin_nested():
            session.add(comparison)
    except IntegrityError:
        raise Busy(ONE_COMPARISON) from None
    return comparison.id


def stop_comparison(session: Session, number: int) -> None:
    """Stop a comparison; no effect if it is over."""
    going_on = select(Comparison).where(Comparison.id == number, Comparison.state == "running")
    comparison = session.scalars(going_on.with_for_update()).one_or_none()
    if comparison is not None:
        end_comparison(session, comparison, "stopped", "its owner wished")


def end_comparison(
    session: Session, comparison: Comparison, state: ComparisonState, reason: str = ""
) -> None:
    """End a comparison whose row is locked, and cancel its waiting matches."""
    comparison.state, comparison.reason, comparison.ended_at = state, reason, session.now()
    its = is_of(COMPARISON, comparison.id, range(comparison.planned))
    call_off(session, its, "called off with its comparison")


def claim_versions(session: Session, claim: Claim) -> Claim:
    """Return a claim with the compared versions in its seats, and record them.

    A version that is deleted, or of a bot that may not play, leaves its seat empty.
    """
    comparison = session.get(Comparison, int(series_in(claim.key)))
    numbers = (comparison.new, comparison.old) if comparison else (None, None)
    seats = []
    for slot, (seat, number) in enumerate(zip(claim.seats, numbers, strict=True)):
        version = version_of(session, comparison, number)
        changed = replace(seat, version=version.number if version else None)
        if not seat.spec.startswith(BUILTIN):
            changed = replace(changed, spec=f"{PROGRAM}{version.sha256}" if version else "")
        seats.append(changed)
        row = (MatchParticipant.match_id == claim.id, MatchParticipant.slot == slot)
        session.execute(update(MatchParticipant).where(*row).values(version=changed.version))
    return replace(claim, seats=tuple(seats), battles=GAMES)


def version_of(
    session: Session, comparison: Comparison | None, number: int | None
) -> BotVersion | None:
    """Return a version of the bot of a comparison, or None if it cannot play."""
    if comparison is None or number is None:
        return None
    bot = session.get_one(Bot, comparison.bot_id)
    return versions.find(session, bot.id, number) if bot.status in ASKED else None


def older_version(resources: Resources, claim: Claim) -> ExternalBots:
    """Return the second version, unless a strategy has its seat.

    A bot has one slot per match, so the second version takes part as a guest.
    """
    new, old = claim.seats
    seats = programs.uploads([replace(new, name=old.name, spec=old.spec)])
    hosting = programs.hosting_of_people(resources.settings)
    return ExternalBots(
        {seat.name: programs.placeholder(seat, hosting) for seat in seats},
        programs=lambda: programs.sent(resources.objects, seats, hosting),
    )


def names_in(comparison: Comparison, bot: str) -> tuple[str, str]:
    """Return the names of both sides of a comparison: `Painter-2` and `Painter-1`."""
    new = f"{bot}-{comparison.new}"
    if comparison.strategy:
        return new, name_of_strategy(comparison.strategy, new)
    return new, f"{bot}-{comparison.old}"


def scores_so_far(comparison: Comparison) -> PairScores:
    """Return the scores of the counted pairs of a comparison."""
    return PairScores(comparison.pairs, comparison.total, comparison.squares)


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison for its page."""

    row: Comparison
    bot: str
    """The name of the bot."""
    game: str
    owner: str | None

    @property
    def evidence(self) -> Evidence:
        """The names of both sides, and the evidence so far."""
        (new, old), row = names_in(self.row, self.bot), self.row
        scores, matches = scores_so_far(row), row.pairs * GAMES
        return Evidence(new, old, HYPOTHESES, scores, row.decision, matches)

    @property
    def draws(self) -> int:
        """Drawn matches."""
        return self.row.pairs * GAMES - self.row.wins - self.row.losses

    @property
    def most(self) -> int:
        """The maximum number of its matches."""
        return MOST_PAIRS * GAMES

    @property
    def is_over(self) -> bool:
        """Whether no more matches are played."""
        return self.row.state != "running"

    @property
    def sentence(self) -> str:
        """The status text: progress or result."""
        evidence = self.evidence
        if not self.is_over:
            return standing(evidence) if evidence.matches else "No match is over yet"
        words = verdict(evidence)
        if self.row.reason:
            after = f": {words}" if evidence.matches else " before a match was over"
            return f"Stopped, as {self.row.reason}{after}"
        # A decision begins with the name of a bot.
        return words if evidence.decision else words[0].upper() + words[1:]

    @property
    def tag(self) -> str:
        """A tag that changes whenever the page does."""
        return f"{self.row.id}-{self.row.state}-{self.row.pairs}-{self.row.planned}"


COMPARISONS: Final = (
    select(Comparison, Bot.name, Bot.game, User.username)
    .join(Bot, Bot.id == Comparison.bot_id)
    .join(User, User.id == Comparison.user_id)
)
"""Selects comparisons for their views."""


def comparisons_of(session: Session, bot: int) -> list[ComparisonView]:
    """Return a bot's last comparisons, the latest first."""
    wanted = COMPARISONS.where(Comparison.bot_id == bot).order_by(Comparison.id.desc())
    return [ComparisonView(*row) for row in session.execute(wanted.limit(LISTED))]


def running_comparisons(session: Session, most: int) -> list[ComparisonView]:
    """Return the running comparisons, the oldest first."""
    wanted = COMPARISONS.where(Comparison.state == "running").order_by(Comparison.id)
    return [ComparisonView(*row) for row in session.execute(wanted.limit(most))]


def find_comparison(session: Session, bot: int, number: int) -> ComparisonView | None:
    """Return a comparison of a bot by its id, or None."""
    wanted = COMPARISONS.where(Comparison.bot_id == bot, Comparison.id == number)
    row = session.execute(wanted).one_or_none()
    return None if row is None else ComparisonView(*row)


def last_pairs(session: Session, kinds: MatchTypes, comparison: Comparison) -> list[MatchView]:
    """Return the last matches of a comparison, the latest first."""
    numbers = range(max(0, comparison.planned - SHOWN_MATCHES), comparison.planned)
    wanted = select(Match).where(is_of(COMPARISON, comparison.id, numbers))
    return views_of(session, kinds, session.scalars(wanted.order_by(Match.id.desc())).all())
