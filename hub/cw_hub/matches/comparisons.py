"""Comparisons of program versions: pairs of matches until a sequential test decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import cycle, islice
from typing import Final

from sqlalchemy import Select, func, select, update
from sqlalchemy.exc import IntegrityError

from cw.errors import UsageError
from cw.games.registry import load_play_options, load_strategies
from cw.lab.comparison import Evidence, outranked, standing, verdict
from cw.league.strength_tests import Hypotheses, PairScores, decision
from cw_hub.bots import programs, shares, versions
from cw_hub.bots import service as bots_service
from cw_hub.bots.addresses import PROGRAM, ClaimedSeat
from cw_hub.bots.service import BotView, name_key
from cw_hub.matches import planning, results
from cw_hub.matches.lookup import views_of
from cw_hub.matches.match_types import ExternalBots, MatchType, MatchTypes, MatchView
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.results import OPEN, Claim
from cw_hub.operation.resources import Resources
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Battle,
    Bot,
    BotVersion,
    Comparison,
    ComparisonState,
    Match,
    MatchParticipant,
    User,
)

NAME: Final = "comparison"

GAMES: Final = 2
"""Number of games per match: each version takes each seat once."""


def key_of(comparison: int, pair: int) -> str:
    """Return the key of a comparison's pair, which is numbered from 0."""
    return f"{comparison} {pair}"


def claim_versions(session: Session, claim: Claim) -> Claim:
    """Return a claim with the compared versions in its seats, and record them.

    A deleted version no longer plays: its seat stays empty.
    """
    comparison = session.get(Comparison, int(claim.key.partition(" ")[0]))
    numbers = (comparison.new, comparison.old) if comparison else (None, None)
    seats = tuple(
        seat
        if seat.spec and not (seat.bot_id or seat.spec.startswith(PROGRAM))
        else with_version(session, comparison, seat, number)
        for seat, number in zip(claim.seats, numbers, strict=True)
    )
    for slot, seat in enumerate(seats):
        its = (MatchParticipant.match_id == claim.id, MatchParticipant.slot == slot)
        session.execute(update(MatchParticipant).where(*its).values(version=seat.version))
    return replace(claim, seats=seats, battles=GAMES)


def with_version(
    session: Session, comparison: Comparison | None, seat: ClaimedSeat, number: int | None
) -> ClaimedSeat:
    """Return a seat with a version of the compared bot, or without one if it cannot play."""
    version = None
    if comparison is not None:
        query = select(BotVersion).join(Bot, Bot.id == BotVersion.bot_id)
        its = (BotVersion.bot_id == comparison.bot_id, BotVersion.number == number)
        version = session.scalar(query.where(*its, Bot.status.not_in(("SUSPENDED", "RETIRED"))))
    spec = f"{PROGRAM}{version.sha256}" if version else ""
    return replace(seat, spec=spec, version=version.number if version else None)


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


class ComparisonType(MatchType):
    """A pair of games of two versions of a bot, or of a version and a strategy."""

    name = NAME
    is_public = False
    is_experiment = True
    battles = GAMES
    plays_at_once = True
    keeps = "none"
    claim = staticmethod(claim_versions)
    external_bots = staticmethod(older_version)


COMPARISON: Final = ComparisonType()


ONE_AT_A_TIME: Final = "You are comparing versions already. Wait until that is over, or stop it."
THE_SAME: Final = "Please choose two different versions."
STOPPED: Final = "called off with its comparison"


@dataclass(frozen=True, slots=True)
class Opponent:
    """What a version is compared with: another version or a built-in strategy."""

    version: int | None = None
    """None for a built-in strategy."""
    strategy: str = ""


def begin(session: Session, bot: BotView, new: int, against: Opponent) -> int:
    """Start comparing a version of a bot with another one, or with a strategy; return its id.

    Repeated and concurrent calls raise Busy. Raises NotReady if a version cannot play, WrongStatus
    if the bot is suspended or retired, and UsageError if the opponent is invalid.
    """
    row = versions.locked(session, bot.id)
    if row.status in ("SUSPENDED", "RETIRED"):
        raise bots_service.wrong_status(row)
    versions.ready(session, bot.id, new)
    check_opponent(session, bot, new, against)
    comparison = Comparison(
        user_id=bot.user_id,
        bot_id=bot.id,
        new=new,
        old=against.version,
        strategy=against.strategy,
        created_at=session.now(),
    )
    try:
        with session.begin_nested():
            session.add(comparison)
    except IntegrityError:
        raise bots_service.Busy(ONE_AT_A_TIME) from None
    return comparison.id


def check_opponent(session: Session, bot: BotView, new: int, against: Opponent) -> None:
    """Raise UsageError unless a version can be compared with an opponent."""
    if against.version is None:
        if against.strategy not in load_strategies(bot.game):
            raise UsageError("Please choose an opponent.")
        return
    versions.ready(session, bot.id, against.version)
    if against.version == new:
        raise UsageError(THE_SAME)


def stop(session: Session, number: int, reason: str) -> None:
    """Stop a comparison; no effect if it is over."""
    going_on = select(Comparison).where(Comparison.id == number, Comparison.state == "running")
    comparison = session.scalars(going_on.with_for_update()).one_or_none()
    if comparison is not None:
        end(session, comparison, "stopped", reason)


def end(
    session: Session,
    comparison: Comparison,
    state: ComparisonState,
    reason: str = "",
) -> None:
    """End a comparison whose row is locked, and cancel its waiting matches."""
    comparison.state, comparison.reason, comparison.ended_at = state, reason, session.now()
    its = Match.key.startswith(f"{comparison.id} ")
    waiting = select(Match.match_id).where(Match.kind == NAME, its, Match.state.in_(OPEN))
    for match_id in session.scalars(waiting).all():
        results.void(session, match_id, STOPPED)


MOST_PAIRS: Final = 200
"""Maximum number of pairs in a comparison, which users see as 400 matches."""

AHEAD: Final = 4
"""Number of pairs planned per idle slot, enough to last until the next tick."""

HYPOTHESES: Final = Hypotheses()

GONE: Final = "the bot is suspended or retired"
UNPLAYED: Final = "a match could not be played"


def sweep(session: Session) -> None:
    """Count finished pairs, end decided comparisons, and plan more pairs for idle slots.

    Idempotent, also for concurrent callers: each pair is planned once and counted once.
    """
    running = select(Comparison, Bot).join(Bot, Bot.id == Comparison.bot_id)
    locked = running.where(Comparison.state == "running").with_for_update(of=Comparison)
    rows = session.execute(locked.order_by(Comparison.id)).all()
    for comparison, bot in rows:
        if bot.status in ("SUSPENDED", "RETIRED"):
            end(session, comparison, "stopped", GONE)
        else:
            advance(session, comparison)
    going_on = [(one, bot) for one, bot in rows if one.state == "running"]
    fill(session, going_on)


def advance(session: Session, comparison: Comparison) -> None:
    """Count finished pairs in order, until they decide the comparison."""
    matches = unfinished(session, comparison)
    for number in range(comparison.pairs, comparison.planned):
        match = matches.get(key_of(comparison.id, number))
        if match is None or match.state in results.OPEN:
            return
        if match.state != "done":
            end(session, comparison, "stopped", UNPLAYED)
            return
        count(comparison, list(scores_of(session, match)))
        if comparison.decision is not None:
            end(session, comparison, "decided")
            return
    if comparison.pairs >= MOST_PAIRS:
        end(session, comparison, "undecided")


def unfinished(session: Session, comparison: Comparison) -> Mapping[str, Match]:
    """Return the matches of a comparison that have not been counted yet, by key."""
    keys = [key_of(comparison.id, pair) for pair in range(comparison.pairs, comparison.planned)]
    rows = session.scalars(select(Match).where(Match.kind == NAME, Match.key.in_(keys)))
    return {match.key: match for match in rows}


def scores_of(session: Session, match: Match) -> Iterator[float]:
    """Yield the newer version's scores in the games of a match, from 0 to 1.

    A match without players yields none.
    """
    ranks = session.scalars(select(Battle.ranks).where(Battle.match_id == match.id))
    for each in ranks.all():
        if each:
            yield (1 + outranked(each, 0) - outranked(each, 1)) / 2


def count(comparison: Comparison, scores: Sequence[float]) -> None:
    """Count one more pair, and record the decision based on all pairs."""
    mean = sum(scores) / len(scores) if scores else 0.5
    after = scores_so_far(comparison).add(mean)
    comparison.pairs, comparison.total, comparison.squares = after.pairs, after.total, after.squares
    comparison.wins += sum(score > 0.5 for score in scores)
    comparison.losses += sum(score < 0.5 for score in scores)
    comparison.decision = decision(after, HYPOTHESES)


def scores_so_far(comparison: Comparison) -> PairScores:
    """Return the scores of the counted pairs."""
    return PairScores(comparison.pairs, comparison.total, comparison.squares)


def fill(session: Session, going_on: Sequence[tuple[Comparison, Bot]]) -> None:
    """Plan pairs of the comparisons in turn, enough for the idle slots until the next tick."""
    room = idle(session) * AHEAD - waiting(session)
    wanted = (one for one in islice(cycle(going_on), MOST_PAIRS * len(going_on)))
    for comparison, bot in wanted:
        if room <= 0:
            return
        if comparison.planned < MOST_PAIRS:
            plan_pair(session, comparison, bot)
            room -= 1


def idle(session: Session) -> int:
    """Return the number of slots with nothing else to play, assuming at least 1 slot."""
    slots = max(1, shares.count(session))
    others = select(func.count()).where(Match.state.in_(results.OPEN), Match.kind != NAME)
    return max(0, slots - session.scalars(others).one())


def waiting(session: Session) -> int:
    """Return how many pairs of all comparisons are waiting or being played."""
    ours = select(func.count()).where(Match.state.in_(results.OPEN), Match.kind == NAME)
    return session.scalars(ours).one()


def plan_pair(session: Session, comparison: Comparison, bot: Bot) -> None:
    """Plan the next pair of a comparison."""
    new, old = names(comparison, bot)
    seats = (
        Seat(new, bot_id=bot.id),
        Seat(old, spec=f"builtin:{comparison.strategy}" if comparison.strategy else "program:"),
    )
    options = load_play_options(bot.game).measured
    key = key_of(comparison.id, comparison.planned)
    planning.plan(session, Plan(NAME, key, bot.game, seats, options))
    comparison.planned += 1


def names(comparison: Comparison, bot: Bot) -> tuple[str, str]:
    """Return the names of both sides of a comparison: `Painter-2` and `Painter-1`."""
    new = f"{bot.name}-{comparison.new}"
    old = comparison.strategy or f"{bot.name}-{comparison.old}"
    return new, old if name_key(old) != name_key(new) else f"{old}-builtin"


LISTED: Final = 10
"""Number of comparisons listed on a bot's page."""

SHOWN_MATCHES: Final = 40
"""Number of latest matches shown on a comparison's page."""


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison for its page."""

    id: int
    bot: str
    """The name of the bot."""
    game: str
    owner: str
    new: str
    old: str
    state: ComparisonState
    evidence: Evidence
    reason: str
    planned: int
    wins: int
    losses: int
    created_at: datetime
    ended_at: datetime | None

    @property
    def draws(self) -> int:
        """Drawn matches."""
        return self.evidence.matches - self.wins - self.losses

    @property
    def most(self) -> int:
        """The maximum number of its matches."""
        return MOST_PAIRS * GAMES

    @property
    def sentence(self) -> str:
        """The status text: progress or result."""
        if self.state == "running":
            return standing(self.evidence) if self.evidence.matches else "No match is over yet"
        words = verdict(self.evidence)
        if self.reason:
            evidence = f": {words}" if self.evidence.matches else " before a match was over"
            return f"Stopped, as {self.reason}{evidence}"
        # A decision begins with the name of a bot.
        return words if self.evidence.decision else words[0].upper() + words[1:]

    @property
    def tag(self) -> str:
        """A tag that changes whenever the page does."""
        return f"{self.id}-{self.state}-{self.evidence.scores.pairs}-{self.planned}"


def of_bot(session: Session, bot: int) -> list[ComparisonView]:
    """Return a bot's last comparisons, the latest first."""
    wanted = rows().where(Comparison.bot_id == bot).order_by(Comparison.id.desc())
    return [view_of(*row) for row in session.execute(wanted.limit(LISTED))]


def find(session: Session, bot: int, number: int) -> ComparisonView | None:
    """Return a comparison of a bot by its id, or None."""
    wanted = rows().where(Comparison.bot_id == bot, Comparison.id == number)
    row = session.execute(wanted).one_or_none()
    return None if row is None else view_of(*row)


def queue(session: Session, most: int) -> list[ComparisonView]:
    """Return the running comparisons, the oldest first."""
    wanted = rows().where(Comparison.state == "running").order_by(Comparison.id).limit(most)
    return [view_of(*row) for row in session.execute(wanted)]


def rows() -> Select[Comparison, Bot, str | None]:
    """Return the query for comparisons with their bots and the bots' owners."""
    query = select(Comparison, Bot, User.username).join(Bot, Bot.id == Comparison.bot_id)
    return query.join(User, User.id == Comparison.user_id)


def view_of(comparison: Comparison, bot: Bot, owner: str | None) -> ComparisonView:
    """Return a comparison as shown on pages."""
    new, old = names(comparison, bot)
    evidence = Evidence(
        new,
        old,
        HYPOTHESES,
        scores_so_far(comparison),
        comparison.decision,
        comparison.pairs * GAMES,
    )
    return ComparisonView(
        comparison.id,
        bot.name,
        bot.game,
        owner or "",
        new,
        old,
        comparison.state,
        evidence,
        comparison.reason,
        comparison.planned,
        comparison.wins,
        comparison.losses,
        comparison.created_at,
        comparison.ended_at,
    )


def matches_of(
    session: Session, kinds: MatchTypes, comparison: ComparisonView
) -> Sequence[MatchView]:
    """Return the last matches of a comparison, the latest first."""
    first = max(0, comparison.planned - SHOWN_MATCHES)
    keys = [key_of(comparison.id, pair) for pair in range(first, comparison.planned)]
    wanted = select(Match).where(Match.kind == NAME, Match.key.in_(keys))
    return views_of(session, kinds, session.scalars(wanted.order_by(Match.id.desc())).all())
