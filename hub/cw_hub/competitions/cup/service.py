"""Cups between users' bots: settings, match planning and results.

A contest is a function of its results, so a cup stores nothing else: due fixtures and standings are
recomputed from the finished matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import select, update

from cw.championship.config import ChampionshipSettings
from cw.championship.entries import Entry, EntryFault
from cw.championship.journal import stem_of
from cw.championship.report_document import Played
from cw.errors import UsageError, choices, short
from cw.games.registry import games_with_hidden_information
from cw.league.contest_formats import FORMATS
from cw.league.fixtures import Fixture, Result, open_fixtures
from cw_hub.bots.service import name_key
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import SINCE, CompetitionFacts, facts_of
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.results import OPEN, BattleResult, Claim
from cw_hub.operation.resources import Resources
from cw_hub.pages.request import whole_number
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, CompetitionState, Match, MatchParticipant

NAME: Final = "cup"

USUAL: Final = "round-robin"
"""The default contest of a cup."""

NUMBERS: Final = ("groups", "players", "rounds")

MOST_OPEN: Final = 256
"""Default limit of a cup's open matches."""


def settings_of(cup: CompetitionFacts) -> ChampionshipSettings:
    """Return the settings of a cup; raise UsageError if they are invalid.

    The bots keep the order in which they were entered, strongest first.
    """
    values = {name: value for name, value in cup.settings.items() if name != SINCE}
    contest = values.pop("contest", USUAL)
    if contest not in FORMATS:
        raise UsageError(f"there is no contest {contest!r}; {choices(str(contest), FORMATS)}")
    numbers = {name: number(name, values.pop(name, None)) for name in NUMBERS}
    bots, options = values.pop("bots", ()), values.pop("options", {})
    bots = values.pop("entrants", bots)
    for name in set(values) - {"parallel", "at_once"}:
        raise UsageError(f"a cup has contest, bots, {', '.join(NUMBERS)} and options, not {name}")
    if not isinstance(options, dict):
        raise UsageError("options must be a JSON object, such as {}")
    names = tuple(bots.split(",")) if isinstance(bots, str) else tuple(bots)
    return ChampionshipSettings(
        names,
        "",
        cup.game,
        contest,
        cup.seed,
        groups=numbers["groups"],
        players=numbers["players"],
        rounds=numbers["rounds"],
        options=options,
    )


def number(name: str, value: Any) -> int | None:
    """Return a number from 1 to 1000, or None for None; raise UsageError for anything else."""
    if value is None:
        return None
    text = str(value)
    number = whole_number(text, 1, 1000)
    if number is None:
        raise UsageError(f"{name} must be a whole number from 1 to 1000, not {short(text)}")
    return number


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the open matches of a cup."""

    at_once: int
    of_each: int | None
    """Limit for each bot without a limit of its own; None: unlimited."""
    parallel: Mapping[str, int]
    """Limits of individual bots."""

    def allow(self, fixture: Fixture, busy: Mapping[str, int]) -> bool:
        """Return whether every player of a fixture may play one more match."""
        most = (self.parallel.get(name, self.of_each) for name in fixture.players)
        return all(
            limit is None or busy[name] < limit
            for name, limit in zip(fixture.players, most, strict=True)
        )


def limits_of(cup: CompetitionFacts) -> Limits:
    """Return the limits of a cup; a user's bot plays one of its matches at a time."""
    of_each = None if "entrants" in cup.settings else 1
    return Limits(cup.settings.get("at_once", MOST_OPEN), of_each, cup.settings.get("parallel", {}))


def seats_of(session: Session, cup: CompetitionFacts) -> Mapping[str, Seat]:
    """Return the seats by name: users' bots, or bots sent by a championship.

    Raises UsageError for a name without a bot of this game.
    """
    if "entrants" in cup.settings:
        return {name: Seat(name, spec=spec) for name, spec in cup.settings["entrants"].items()}
    keys = {name_key(name): name for name in settings_of(cup).teams}
    query = select(Bot).where(
        Bot.game == cup.game, Bot.user_id.is_not(None), Bot.name_key.in_(keys)
    )
    seats = {
        keys[bot.name_key]: Seat(keys[bot.name_key], bot_id=bot.id)
        for bot in session.scalars(query)
    }
    missing = [name for name in keys.values() if name not in seats]
    if missing:
        raise UsageError(f"there is no bot {missing[0]!r} that plays {cup.game}")
    return seats


def check(session: Session, cup: CompetitionFacts) -> None:
    """Raise UsageError unless a cup can be played with its settings."""
    settings = settings_of(cup)
    seats_of(session, cup)
    settings.check()


PREFIX: Final = "championships"
"""Prefix of the stored entrants and match results; no page links to these objects."""


def key_of(cup: str, match: str) -> str:
    """Return the key of a match, given its cup's slug and its name in the contest."""
    return f"{cup}/{sha256(match.encode()).hexdigest()[:32]}"


def cup_of(key: str) -> str:
    """Return the slug of the cup in a match's key."""
    return key.partition("/")[0]


def parcel_key(cup: str) -> str:
    """Return the object store key of a cup's entrants."""
    return f"{PREFIX}/{cup}/entrants.json"


def program_key(cup: str, digest: str) -> str:
    """Return the object store key of a program's zip, which is stored once per cup."""
    return f"{PREFIX}/{cup}/programs/{digest}"


def outcome_key(key: str, attempt: int) -> str:
    """Return the object store key of a match result, which differs by attempt."""
    return f"{PREFIX}/{key}-{attempt}.json.gz"


def forget(resources: Resources) -> int:
    """Delete old entrants and match results; return the number of objects deleted.

    By then, the organiser of the championship has long since fetched them.
    """
    age = timedelta(days=resources.settings.replay_days)
    keys = list(resources.objects.keys(PREFIX, resources.clock() - age))
    for key in keys:
        resources.objects.delete(key)
    return len(keys)


FAULT: Final = "see the page of the match"
"""Public description of a fault; only the owner of the bot sees more."""


@dataclass(frozen=True, slots=True)
class Cup:
    """A cup with its matches."""

    facts: CompetitionFacts
    settings: ChampionshipSettings
    matches: Mapping[str, Match]
    """Matches by key."""
    seats: Mapping[int, Sequence[MatchParticipant]]
    """The seats of each match, in order, by match id."""

    @classmethod
    def of(cls, session: Session, facts: CompetitionFacts) -> Cup:
        """Read a cup; raise UsageError if its settings are invalid."""
        matches = session.scalars(select(Match).where(Match.competition_id == facts.id)).all()
        query = (
            select(MatchParticipant)
            .where(
                MatchParticipant.match_id.in_(
                    select(Match.id).where(Match.competition_id == facts.id)
                )
            )
            .order_by(MatchParticipant.match_id, MatchParticipant.slot)
        )
        seats: dict[int, list[MatchParticipant]] = {}
        for seat in session.scalars(query):
            seats.setdefault(seat.match_id, []).append(seat)
        return cls(facts, settings_of(facts), {match.key: match for match in matches}, seats)

    def match_of(self, fixture: Fixture) -> Match | None:
        """Return the match of a fixture, or None if none is planned."""
        return self.matches.get(key_of(self.facts.slug, stem_of(fixture)))

    def played(self) -> Played:
        """Return the finished matches that the contest calls for, with their results."""
        lines, contest = self.settings.lines(), self.settings.contest()
        results: dict[Fixture, Result] = {}
        entries: list[Entry] = []
        while fresh := [
            entry
            for fixture in open_fixtures(contest.rounds(results), results)
            if (entry := self.entry_of(fixture)) is not None
        ]:
            entries += fresh
            results |= {entry.fixture: lines.result(entry) for entry in fresh}
        return Played(tuple(entries), results, lines)

    def entry_of(self, fixture: Fixture) -> Entry | None:
        """Return the match of a fixture as a championship entry, or None unless it is over."""
        match = self.match_of(fixture)
        return (
            entry_of(fixture, match, self.seats[match.id])
            if match and match.state == "done"
            else None
        )

    def due(self, played: Played) -> list[Fixture]:
        """Return the playable fixtures that have no match yet."""
        rounds = self.settings.contest().rounds(played.results)
        return [
            fixture
            for fixture in open_fixtures(rounds, played.results)
            if self.match_of(fixture) is None
        ]

    def next_of(self, due: Sequence[Fixture]) -> list[Fixture]:
        """Return the due fixtures that fit within the limits, in order."""
        limits = limits_of(self.facts)
        busy = Counter(
            seat.name
            for match in self.matches.values()
            if match.state in OPEN
            for seat in self.seats[match.id]
        )
        room = limits.at_once - sum(match.state in OPEN for match in self.matches.values())
        choice: list[Fixture] = []
        for fixture in due:
            if len(choice) < room and limits.allow(fixture, busy):
                busy.update(fixture.players)
                choice.append(fixture)
        return choice


def entry_of(fixture: Fixture, match: Match, seats: Sequence[MatchParticipant]) -> Entry:
    """Return a finished match as a championship entry; unranked seats share the last rank."""
    last = max((seat.rank for seat in seats if seat.rank is not None), default=0) + 1
    return Entry(
        fixture.stage,
        fixture.group,
        fixture.round,
        fixture.players,
        fixture.tie_break,
        ranks=tuple(last if seat.rank is None else seat.rank for seat in seats),
        scores=tuple(0 if seat.score is None else seat.score for seat in seats),
        reason=match.reason or "",
        seed=match.seed,
        turns=match.turn,
        faults=tuple(
            EntryFault(seat.slot, fault["turn"] or 0, fault["kind"], FAULT)
            for seat in seats
            for fault in seat.faults
        ),
        longest_ms=tuple(round(seat.stats.get("most_ms", 0)) for seat in seats),
        median_ms=tuple(round(seat.stats.get("median_ms", 0)) for seat in seats),
    )


def plan(session: Session) -> None:
    """Plan the due matches of all running cups. Idempotent, also when called concurrently."""
    running = select(Competition.id).where(
        Competition.format == NAME, Competition.state == "running"
    )
    for cup in session.scalars(running.order_by(Competition.id)).all():
        plan_cup(session, cup)


def plan_cup(session: Session, competition: int) -> None:
    """Plan the due matches of a cup, and end it once there are none left.

    Concurrent callers wait, and then find the matches already planned.
    """
    row = competitions_service.lock(session, competition)
    if row.state != "running":
        return
    cup = Cup.of(session, facts_of(row))
    played, seats = cup.played(), seats_of(session, cup.facts)
    for fixture in cup.next_of(cup.due(played)):
        plan_match(session, cup, fixture, seats)
    if not open_fixtures(cup.settings.contest().rounds(played.results), played.results):
        competitions_service.set_state(session, competition, "over")


def plan_match(session: Session, cup: Cup, fixture: Fixture, seats: Mapping[str, Seat]) -> None:
    """Create the row of a fixture's match. Idempotent."""
    planning.plan(
        session,
        Plan(
            NAME,
            key_of(cup.facts.slug, stem_of(fixture)),
            cup.facts.game,
            tuple(seats[name] for name in fixture.players),
            cup.settings.match_options(fixture),
            cup.facts.id,
            seed=seed_of(cup, fixture),
        ),
    )


def seed_of(cup: Cup, fixture: Fixture) -> int | None:
    """Return the seed of a fixture's match, or None to draw one.

    Both matches of a meeting share their seed, except between users' bots in games with hidden
    information: there, the replay of the first would show what the second hides.
    """
    is_of_people = "entrants" not in cup.facts.settings
    if is_of_people and cup.facts.game in games_with_hidden_information():
        return None
    return cup.settings.match_seed(fixture)


# Matches


def claim(session: Session, claim: Claim) -> Claim:
    """Mark the pages of a cup as changed."""
    touch(session, claim)
    return claim


def hold(session: Session, claim: Claim) -> None:
    """Lock the cup of a match until the end of the transaction."""
    if claim.competition_id is not None:
        competitions_service.lock(session, claim.competition_id)


def finish(session: Session, claim: Claim, _: Sequence[BattleResult]) -> None:
    """Plan the matches that a result makes due."""
    if claim.competition_id is not None:
        touch(session, claim)
        plan_cup(session, claim.competition_id)


def touch(session: Session, claim: Claim) -> None:
    """Increment the revision of a match's cup."""
    session.execute(
        update(Competition)
        .where(Competition.id == claim.competition_id)
        .values(revision=Competition.revision + 1)
    )


# Operator actions


def change(
    session: Session,
    cup: CompetitionFacts,
    values: Mapping[str, Any],
) -> None:
    """Change settings of a cup; raise UsageError if it has started, or if they are invalid."""
    begun = select(Match.id).where(Match.competition_id == cup.id).limit(1)
    if session.scalar(begun) is not None:
        raise UsageError(f"the cup {cup.slug} has begun, so its settings stay as they are")
    competitions_service.set_values(session, cup.id, values)
    settings_of(facts_of(competitions_service.lock(session, cup.id)))


def steer(
    session: Session,
    cup: CompetitionFacts,
    state: CompetitionState,
) -> None:
    """Set a cup's state; raise UsageError if it is over or cannot be played."""
    if cup.state == "over":
        raise UsageError(f"the cup {cup.slug} is over")
    if state in ("planned", "running"):
        check(session, cup)
    competitions_service.set_state(session, cup.id, state)
