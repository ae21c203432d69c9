"""Scheduling daily games, admitting bots to them, operator actions, and saving results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from functools import cache
from itertools import islice
from random import Random
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from sqlalchemy import delete, or_, select, update

from cw.errors import UsageError
from cw.games.end_of_codes.protocol import TEXTS, sanity
from cw.games.registry import load_game
from cw.games.rules import Json
from cw.league.due_times import DueTime
from cw_hub.accounts.service import HOUSE
from cw_hub.bots.addresses import ClaimedSeat, claimed_seat, is_version_played
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import CompetitionFacts, CompetitionTaken
from cw_hub.matches import planning, results
from cw_hub.matches.planning import Plan
from cw_hub.matches.results import OPEN, BattleResult, Claim
from cw_hub.players.messages import SlotResult
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotVersion, Competition, Match, MatchParticipant, User


def report_of(player: int, gameid: int, slot_result: SlotResult) -> dict[str, Json]:
    """Return the report of a bot's first problem, in the format of the game's document."""
    fault = slot_result.faults[0]
    error = str(fault["detail"]).partition(":")[0]
    request = error.partition("_")[0]
    turn = fault["turn"] if request == "round" else None
    text = str(fault["detail"]).partition(": ")[2]
    if request == "initiate":
        # The bot was ready at admission, but no longer when the game started.
        text = TEXTS[sanity(error).index(False)]
    more = {"expected": fault.get("expected", ""), "actual": fault.get("actual", "")}
    return report(player, gameid, turn, request, fault["kind"], error, text=text, **more)


def report(  # noqa: PLR0913, PLR0917 - its members
    userid: int,
    gameid: int,
    turn: int | None,
    request: str,
    kind: str,
    error: str,
    text: str = "",
    expected: str = "",
    actual: str = "",
) -> dict[str, Json]:
    """Return a report as a JSON object with all its members."""
    about = {"userid": userid, "gameid": gameid, "round": turn, "request": request}
    return {
        **about,
        "kind": kind,
        "error": error,
        "text": text,
        "expected": expected,
        "actual": actual,
    }


GAME: Final = "end-of-codes"
"""The game whose web services are checked for readiness.

Programs, and the bots of other games, play if they are ACTIVE.
"""

NO_SEAT: Final = "no_seat"
TOO_LARGE: Final = "too many creatures"
SEED_TRIES: Final = 1000


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot that is eligible for a game, in its current state."""

    bot: int
    user_id: int
    seat: ClaimedSeat
    endpoint: str
    version: int
    """Version of its secret."""
    is_active: bool = True
    """Whether it was ready at its last check."""

    @property
    def is_asked(self) -> bool:
        """Whether it is a web service."""
        return self.seat.spec == self.endpoint


def entrants(session: Session, game: str) -> list[Entrant]:
    """Return the bots eligible for a game, ordered by user id."""
    users_now = (User.locked_at.is_(None), User.deleted_at.is_(None))
    rows = session.execute(
        select(Bot, User.id, User.username, BotVersion)
        .join(User, User.id == Bot.user_id)
        .outerjoin(BotVersion, is_version_played())
        .where(Bot.game == game, *users_now, may_play(game))
        .where(or_(Bot.endpoint != "", BotVersion.id.is_not(None)))
        .order_by(User.id, Bot.id)
    )
    return [entrant_of(bot, user_id, name or "", version) for bot, user_id, name, version in rows]


def may_play(game: str) -> Any:
    """Return the SQL condition for bots eligible for a game.

    In End of Codes a player is a user, whose id identifies the creatures; the house bots share one
    user id, so they are excluded.
    """
    if game == GAME:
        is_asked = Bot.kind != "program"
        is_open = or_(
            Bot.status == "ACTIVE", is_asked & Bot.status.not_in(("RETIRED", "SUSPENDED"))
        )
        return is_open & User.username.is_distinct_from(HOUSE)
    return Bot.status == "ACTIVE"


def entrant_of(bot: Bot, user_id: int, owner: str, version: BotVersion | None = None) -> Entrant:
    """Return a bot as an entrant, with the version of its program that plays, if any."""
    seat = claimed_seat(bot, owner=owner, version=version)
    is_active = bot.status == "ACTIVE"
    return Entrant(bot.id, user_id, seat, bot.endpoint, bot.secret_version, is_active)


@dataclass(frozen=True, slots=True)
class Admission:
    """The admitted bots, and the refused ones with the reasons."""

    ready: Sequence[Entrant]
    refused: Sequence[tuple[Entrant, Mapping[str, Json]]]
    """Each refused bot with its report."""


def seated(game: str, seed: int, admission: Admission) -> Admission:
    """Return an admission limited to the game's seats; the seed decides which bots get one."""
    most = load_game(game).rules.seats.stop - 1
    if len(admission.ready) <= most:
        return admission
    lot = set(Random(seed).sample(range(len(admission.ready)), most))
    without = [
        (entrant, no_seat(entrant.user_id))
        for number, entrant in enumerate(admission.ready)
        if number not in lot
    ]
    ready = [entrant for number, entrant in enumerate(admission.ready) if number in lot]
    return Admission(ready, (*admission.refused, *without))


def no_seat(user_id: int) -> dict[str, Json]:
    """Return the report of a bot that got no seat."""
    return report(user_id, 0, None, "", "startup", NO_SEAT)


def admit(session: Session, claim: Claim, admission: Admission) -> Claim | None:
    """Write a game's participants, replacing those of an earlier attempt; return the new claim.

    Returns None, and writes nothing, if the game no longer belongs to this attempt.
    """
    playing = update(Match).where(results.mine(claim)).values(players=len(admission.ready))
    if not results.updated(session, playing):
        return None
    session.execute(delete(MatchParticipant).where(MatchParticipant.match_id == claim.id))
    rows: list[tuple[Entrant, list[Mapping[str, Json]]]] = [
        (entrant, []) for entrant in admission.ready
    ]
    rows += [(entrant, [{**why, "gameid": claim.id}]) for entrant, why in admission.refused]
    session.add_all(
        MatchParticipant(
            match_id=claim.id,
            slot=slot,
            bot_id=entrant.bot,
            name=entrant.seat.name,
            faults=faults,
            version=entrant.seat.version,
        )
        for slot, (entrant, faults) in enumerate(rows)
    )
    return claim_with(claim, admission.ready)


def claim_with(claim: Claim, ready: Sequence[Entrant]) -> Claim:
    """Return a claim with its participants and, in End of Codes, the ids of players and game."""
    seats = tuple(entrant.seat for entrant in ready)
    if claim.game != GAME:
        return replace(claim, seats=seats)
    players = tuple(entrant.user_id for entrant in ready)
    options = {**claim.options, "gameid": claim.id}
    return replace(claim, seats=seats, players=players, options=options)


def playable(claim: Claim) -> Claim:
    """Return a claim with the first playable seed, starting from its own.

    Options drawn from the seed may make a game too large for its limits. Raises UsageError if none
    of SEED_TRIES seeds fits.
    """
    if claim.game != GAME:
        return claim
    rules = load_game(claim.game).rules
    named = [
        {"userid": player, "username": seat.name}
        for player, seat in zip(claim.players, claim.seats, strict=True)
    ]
    for seed in range(claim.seed, claim.seed + SEED_TRIES):
        try:
            rules.new(named, seed, **claim.options)
        except UsageError as error:
            if TOO_LARGE not in str(error):
                raise
        else:
            return replace(claim, seed=seed)
    raise UsageError("the game would have too many creatures with any seed")


FORMAT: Final = "daily"
LATE: Final = timedelta(hours=12)
"""Maximum delay of a game; a game that would start even later is called off."""


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
    settings |= {
        name: value for name, value in values.items() if name != competitions_service.SINCE
    }
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


def plan(session: Session) -> None:
    """Create the row of each competition's latest due game, if it is missing.

    A unique key makes this idempotent, also when called concurrently. The game is called off
    immediately if it is too late or another game is open; earlier due times get no row.
    """
    running = select(Competition.id).where(
        Competition.format == FORMAT, Competition.state == "running"
    )
    for competition in session.scalars(running).all():
        plan_one(session, competition)


def plan_one(session: Session, competition: int) -> None:
    """Create the row of a competition's latest due game, if it is missing."""
    now = session.now()
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
    # Concurrent planners wait here, and then find the row that another one has created.
    competitions_service.lock(session, competition)
    if is_planned(session, key_of(facts, due)):
        return
    is_free = open_game(session, competition) is None
    # Even a game that is called off immediately gets a row, which records the reason and makes the
    # next tick skip the game.
    game = add_game(session, facts, due)
    if now - due > LATE:
        call_off(session, game, "server_was_down")
    elif not is_free:
        call_off(session, game, "previous_game_running")


def find_running(session: Session, competition: int) -> CompetitionFacts | None:
    """Return a competition if it is running, or None."""
    row = session.get(Competition, competition)
    return (
        competitions_service.facts_of(row) if row is not None and row.state == "running" else None
    )


def key_of(facts: CompetitionFacts, at: datetime) -> str:
    """Return the unique key of a competition's game at a due time."""
    return f"{facts.slug} {at:%Y-%m-%dT%H:%M:%SZ}"


def is_planned(session: Session, key: str) -> bool:
    """Return whether the game with a key has a row."""
    query = select(Match.id).where(Match.kind == FORMAT, Match.key == key)
    return session.scalar(query) is not None


def add_game(session: Session, facts: CompetitionFacts, at: datetime) -> int:
    """Create the row of a game; return its id. Idempotent."""
    options = dict(read_settings(facts.settings).options)
    plan_ = Plan(FORMAT, key_of(facts, at), facts.game, (), options, facts.id, at=at)
    return planning.plan(session, plan_)


def call_off(session: Session, game: int, reason: str) -> None:
    """Call off a game that no worker has claimed."""
    name = session.scalars(select(Match.match_id).where(Match.id == game)).one()
    results.void(session, name, reason)


def open_game(session: Session, competition: int) -> str | None:
    """Return the match id of a competition's open game, or None."""
    query = select(Match.match_id).where(Match.competition_id == competition, Match.state.in_(OPEN))
    return session.scalar(query.limit(1))


def name_of_game(session: Session, gameid: int) -> str | None:
    """Return the match id of the daily game with a `gameid`, or None."""
    return session.scalar(select(Match.match_id).where(Match.id == gameid, Match.kind == FORMAT))


# Operator actions


def begin_site(session: Session, _: Mapping[str, Any] = NO_SETTINGS) -> None:
    """Create and start the daily competition of End of Codes.

    Idempotent, also when called concurrently: an existing competition is left unchanged.
    """
    if competitions_service.find(session, FORMAT, GAME) is None:
        with suppress(CompetitionTaken):
            new = competitions_service.new(session, FORMAT, GAME, title="End of Codes, daily")
            competitions_service.set_state(session, new.id, "running")


def begin(session: Session, competition: int) -> str:
    """Plan a game that is due now; return its match id.

    Raises GameIsOpen while another game is open; of concurrent callers, exactly one succeeds.
    """
    facts = competitions_service.facts_of(competitions_service.lock(session, competition))
    name = open_game(session, competition)
    if name is not None:
        raise GameIsOpen(f"a game is open: {name}")
    game = add_game(session, facts, session.now().replace(microsecond=0))
    return session.scalars(select(Match.match_id).where(Match.id == game)).one()


def skip(session: Session, competition: int) -> datetime:
    """Call off the game at the next due time; return that time.

    Not idempotent: a second call skips another game.
    """
    facts = competitions_service.facts_of(competitions_service.lock(session, competition))
    due = next(next_due(session, facts))
    call_off(session, add_game(session, facts, due), "skipped")
    return due


def next_due(session: Session, facts: CompetitionFacts) -> Iterator[datetime]:
    """Yield the future due times that are not skipped."""
    now = session.now()
    skipped = select(Match.at).where(
        Match.competition_id == facts.id, Match.state == "void", Match.at > now
    )
    off = set(session.scalars(skipped))
    return (due for due in read_settings(facts.settings).due.after(now) if due not in off)


def upcoming(session: Session, facts: CompetitionFacts, number: int) -> list[datetime]:
    """Return the next due times, up to `number`; none unless the competition is running."""
    return list(islice(next_due(session, facts), number)) if facts.state == "running" else []


# Results


def finished(session: Session, claim: Claim, battles: Sequence[BattleResult]) -> None:
    """Save each End of Codes bot's first problem as its report, and mark the pages as changed."""
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
