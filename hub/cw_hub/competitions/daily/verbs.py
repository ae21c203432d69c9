"""Daily games: their due times, the operator's actions, and what is kept of their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import cache
from itertools import islice
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.games.rules import Json
from cw.league.due_times import DueTime
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.daily.entrants import GAME
from cw_hub.competitions.daily.reports import report_of
from cw_hub.competitions.verbs import CompetitionFacts, CompetitionTaken
from cw_hub.matches import interruptions, planning
from cw_hub.matches.claims import Claim
from cw_hub.matches.interruptions import OPEN
from cw_hub.matches.planning import Plan
from cw_hub.matches.results import BattleResult
from cw_hub.store.tables import Competition, Match, MatchParticipant

FORMAT: Final = "daily"
LATE: Final = timedelta(hours=12)
"""The maximum delay of a game; games due earlier are called off."""


NO_SETTINGS: Final[Mapping[str, Any]] = {}


class GameIsOpen(UsageError):
    """Another game is still open."""


@dataclass(frozen=True, slots=True)
class DailySettings:
    """The settings of a daily competition."""

    due: DueTime
    options: Mapping[str, Json]


def read_settings(values: Mapping[str, Any]) -> DailySettings:
    """Return the settings, with defaults; raise UsageError if they are invalid."""
    settings = {"time": "18:00", "zone": "UTC", "options": {}}
    settings |= {name: value for name, value in values.items() if name != competitions.SINCE}
    wrong = [name for name in settings if name not in ("time", "zone", "options")]
    if wrong:
        raise UsageError(f"a daily competition has time, zone and options, not {wrong[0]}")
    if settings["zone"] not in zones():
        raise UsageError(f"unknown time zone {settings['zone']!r} (try Europe/Athens)")
    if not isinstance(settings["options"], dict):
        raise UsageError("options must be a JSON object, such as {}")
    return DailySettings(
        DueTime(read_time(settings["time"]), ZoneInfo(settings["zone"])), settings["options"]
    )


@cache
def zones() -> set[str]:
    """Return the names of all time zones; cached, because finding them is slow."""
    return available_timezones()


def read_time(text: Any) -> time:
    """Return a time of day such as `18:00`; raise UsageError for any other text."""
    try:
        return datetime.strptime(text, "%H:%M").time()
    except (TypeError, ValueError):
        raise UsageError(f"{text!r} is not a time of day (try 18:00)") from None


# Planning


def plan(session: Session, clock: Clock) -> None:
    """Create the row of each competition's latest due time, if it is missing.

    A unique key makes this idempotent, also when called concurrently. The game is called off at
    once if it is too late or another game is open; earlier due times get no row.
    """
    running = select(Competition.id).where(
        Competition.format == FORMAT, Competition.state == "running"
    )
    for competition in session.scalars(running).all():
        plan_one(session, clock, competition)


def plan_one(session: Session, clock: Clock, competition: int) -> None:
    """Create the row of a competition's latest due time."""
    now = clock()
    facts = find_running(session, competition)
    if facts is None or facts.since is None:
        return
    # Only the latest: after a long downtime, do not play a week of missed games in a row.
    due = read_settings(facts.settings).due.latest(now)
    # Skip what was due before the competition was resumed.
    if due < facts.since:
        return
    if is_planned(session, key_of(facts, due)):
        return
    # Concurrent planners wait here, then find the row that was made meanwhile.
    competitions.lock(session, competition)
    if is_planned(session, key_of(facts, due)):
        return
    is_free = open_game(session, competition) is None
    # Even a game that is called off at once gets a row: it records the reason, and the next tick
    # skips it.
    game = add_game(session, clock, facts, due)
    if now - due > LATE:
        call_off(session, clock, game, "server_was_down")
    elif not is_free:
        call_off(session, clock, game, "previous_game_running")


def find_running(session: Session, competition: int) -> CompetitionFacts | None:
    """Return a competition if it is running, or None."""
    row = session.get(Competition, competition)
    return competitions.facts_of(row) if row is not None and row.state == "running" else None


def key_of(facts: CompetitionFacts, at: datetime) -> str:
    """Return the key of a game."""
    return f"{facts.slug} {at:%Y-%m-%dT%H:%M:%SZ}"


def is_planned(session: Session, key: str) -> bool:
    """Return whether a game has a row."""
    query = select(Match.id).where(Match.kind == FORMAT, Match.key == key)
    return session.scalar(query) is not None


def add_game(session: Session, clock: Clock, facts: CompetitionFacts, at: datetime) -> int:
    """Create the row of a game; return its id. Idempotent."""
    options = dict(read_settings(facts.settings).options)
    plan_ = Plan(FORMAT, key_of(facts, at), facts.game, (), options, facts.id, at=at)
    return planning.plan(session, clock, plan_)


def call_off(session: Session, clock: Clock, game: int, reason: str) -> None:
    """Call off a game that no worker has claimed."""
    name = session.scalars(select(Match.match_id).where(Match.id == game)).one()
    interruptions.void(session, clock, name, reason)


def open_game(session: Session, competition: int) -> str | None:
    """Return the name of the open game, or None."""
    query = select(Match.match_id).where(Match.competition_id == competition, Match.state.in_(OPEN))
    return session.scalar(query.limit(1))


def name_of_game(session: Session, gameid: int) -> str | None:
    """Return the public name of a game by its number, or None."""
    return session.scalar(select(Match.match_id).where(Match.id == gameid, Match.kind == FORMAT))


# Operator actions


def begin_site(session: Session, clock: Clock, _: Mapping[str, Any] = NO_SETTINGS) -> None:
    """Create and start the daily competition of End of Codes.

    Idempotent, also when called concurrently: an existing competition is left unchanged.
    """
    if competitions.find(session, FORMAT, GAME) is None:
        with suppress(CompetitionTaken):
            new = competitions.new(session, clock, FORMAT, GAME, title="End of Codes, daily")
            competitions.set_state(session, clock, new.id, "running")


def begin(session: Session, clock: Clock, competition: int) -> str:
    """Plan a game for now; return its name.

    Raises GameIsOpen while another game is open; of concurrent callers, exactly one succeeds.
    """
    facts = competitions.facts_of(competitions.lock(session, competition))
    name = open_game(session, competition)
    if name is not None:
        raise GameIsOpen(f"a game is open: {name}")
    game = add_game(session, clock, facts, clock().replace(microsecond=0))
    return session.scalars(select(Match.match_id).where(Match.id == game)).one()


def skip(session: Session, clock: Clock, competition: int) -> datetime:
    """Call off the next due time; return it. Not idempotent: a second call skips another."""
    facts = competitions.facts_of(competitions.lock(session, competition))
    due = next(next_due(session, clock, facts))
    call_off(session, clock, add_game(session, clock, facts, due), "skipped")
    return due


def next_due(session: Session, clock: Clock, facts: CompetitionFacts) -> Iterator[datetime]:
    """Yield the future due times that are not skipped."""
    now = clock()
    skipped = select(Match.at).where(
        Match.competition_id == facts.id, Match.state == "void", Match.at > now
    )
    off = set(session.scalars(skipped))
    return (due for due in read_settings(facts.settings).due.after(now) if due not in off)


def upcoming(
    session: Session, clock: Clock, facts: CompetitionFacts, number: int
) -> list[datetime]:
    """Return the next due times, or none unless the competition is running."""
    return list(islice(next_due(session, clock, facts), number)) if facts.state == "running" else []


# Results


def finished(session: Session, _: Clock, claim: Claim, battles: Sequence[BattleResult]) -> None:
    """Save each bot's first problem as its report, and mark the pages as changed."""
    if claim.game == GAME:
        for slot, (player, slot_result) in enumerate(
            zip(claim.players, battles[-1].slots, strict=True)
        ):
            if slot_result.faults:
                session.execute(
                    update(MatchParticipant)
                    .where(MatchParticipant.match_id == claim.id, MatchParticipant.slot == slot)
                    .values(faults=[report_of(player, claim.id, slot_result)])
                )
    session.execute(
        update(Competition)
        .where(Competition.id == claim.competition_id)
        .values(revision=Competition.revision + 1)
    )
