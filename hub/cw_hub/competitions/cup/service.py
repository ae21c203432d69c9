"""Cups between users' bots: settings, match planning and results.

A contest is a function of its results, so a cup stores nothing else: due fixtures and standings are
computed from the finished matches. Each process keeps what it has read of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from threading import Lock
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from cachetools import LRUCache
from sqlalchemy import ColumnElement, Connection, Engine, or_, select, update

from cw.championship.config import ChampionshipSettings
from cw.championship.entries import Entry, EntryFault
from cw.championship.journal import stem_of
from cw.championship.report_document import Played
from cw.errors import UsageError, choices, short
from cw.games.registry import games_with_hidden_information
from cw.league.contest_formats import FORMATS
from cw.league.fixtures import Fixture, Result, Results, open_fixtures
from cw_hub.bots.service import name_key
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import SINCE, CompetitionFacts, facts_of
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.results import OPEN, BattleResult, Claim
from cw_hub.pages.request import whole_number
from cw_hub.store.database import Session
from cw_hub.store.models import (
    Bot,
    Competition,
    CompetitionState,
    Match,
    MatchParticipant,
    MatchState,
)

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


def key_of(cup: str, match: str) -> str:
    """Return the key of a match, given its cup's slug and its name in the contest."""
    return f"{cup}/{sha256(match.encode()).hexdigest()[:32]}"


FAULT: Final = "see the page of the match"
"""Public description of a fault; only the owner of the bot sees more."""

CALLED_OFF: Final = "called_off"
"""How a match ended that was called off."""


class CupMatch(NamedTuple):
    """The row of a match, with its seats in order."""

    id: int
    key: str
    state: MatchState
    attempt: int
    reason: str | None
    seed: int
    turn: int
    seats: list[MatchParticipant]


def matches_of(session: Session, cup: int, which: ColumnElement[bool]) -> list[CupMatch]:
    """Return the matches of a cup that satisfy a condition, in the order of their planning."""
    columns = (Match.id, Match.key, Match.state, Match.attempt, Match.reason, Match.seed)
    query = (
        select(*columns, Match.turn, MatchParticipant)
        .join(MatchParticipant, MatchParticipant.match_id == Match.id)
        .where(Match.competition_id == cup, Match.kind == NAME, which)
        .order_by(Match.id, MatchParticipant.slot)
    )
    matches: dict[int, CupMatch] = {}
    for id_, key, state, attempt, reason, seed, turn, seat in session.execute(query):
        match = CupMatch(id_, key, state, attempt, reason, seed, turn, [])
        matches.setdefault(id_, match).seats.append(seat)
    return list(matches.values())


@dataclass(frozen=True, slots=True)
class Cup:
    """A cup, and as much of its contest as the results of its matches determine."""

    facts: CompetitionFacts
    settings: ChampionshipSettings
    entries: Mapping[Fixture, Entry] = field(default_factory=dict)
    """The finished matches."""
    results: Mapping[Fixture, Result] = field(default_factory=dict)
    fixtures: Mapping[str, Fixture] = field(default_factory=dict)
    """The known fixtures without a result, by the keys of their matches, in order."""
    matches: Mapping[str, CupMatch] = field(default_factory=dict)
    """The planned matches without a result, by key."""
    latest: int = 0
    """The id of the match that was planned last."""

    @property
    def is_sent(self) -> bool:
        """Whether a championship has sent the bots, and asks for the results."""
        return "entrants" in self.facts.settings

    @property
    def counted(self) -> tuple[MatchState, ...]:
        """The states of matches that count: one that was called off is a draw without scores.

        In a championship, which may be resumed, it is played later.
        """
        return ("done",) if self.is_sent else ("done", "void")

    def plus(self, matches: Sequence[CupMatch]) -> Cup:
        """Return the cup with matches as they are now."""
        entries, results, fixtures = dict(self.entries), dict(self.results), self.fixtures
        waiting = {**self.matches, **{match.key: match for match in matches}}
        lines, latest = self.settings.lines(), max(self.latest, *(m.id for m in matches), 0)
        while over := [
            m for m in waiting.values() if m.key in fixtures and m.state in self.counted
        ]:
            for match in over:
                entry = entry_of(fixtures[match.key], match)
                entries[entry.fixture] = entry
                results[entry.fixture] = lines.result(entry)
                del waiting[match.key]
            fixtures = self.fixtures_after({match.key for match in over}, fixtures, results)
        return Cup(self.facts, self.settings, entries, results, fixtures, waiting, latest)

    def fixtures_after(
        self, over: Collection[str], fixtures: Mapping[str, Fixture], results: Results
    ) -> Mapping[str, Fixture]:
        """Return the fixtures without a result once some of them are over."""
        left = {key: fixture for key, fixture in fixtures.items() if key not in over}
        busy = set(chain.from_iterable(fixture.players for fixture in left.values()))
        # A contest gives nobody another match before all those of their round, tie or group are
        # over, so it need not be computed again for each result.
        if all(busy.intersection(fixtures[key].players) for key in over):
            return left
        return self.asked(results)

    def asked(self, results: Results) -> dict[str, Fixture]:
        """Return the fixtures that the contest calls for, by key."""
        known = open_fixtures(self.settings.contest().rounds(results), results)
        return {key_of(self.facts.slug, stem_of(fixture)): fixture for fixture in known}

    def played(self) -> Played:
        """Return the finished matches, in the order of their rounds."""
        rounds = chain.from_iterable(self.settings.contest().rounds(self.results))
        entries = [self.entries[fixture] for fixture in rounds if fixture in self.entries]
        return Played(tuple(entries), self.results, self.settings.lines())

    def due(self) -> dict[str, Fixture]:
        """Return the fixtures to plan now, in order, by key.

        A user's bot plays one match of a cup at a time.
        """
        settings, usual = self.facts.settings, None if self.is_sent else 1
        parallel: Mapping[str, int] = settings.get("parallel", {})
        playing = {key for key, match in self.matches.items() if match.state in OPEN}
        room = settings.get("at_once", MOST_OPEN) - len(playing)
        seated = (fixture.players for key, fixture in self.fixtures.items() if key in playing)
        busy = Counter(chain.from_iterable(seated))
        due: dict[str, Fixture] = {}
        for key, fixture in self.fixtures.items():
            most = {name: parallel.get(name, usual) for name in fixture.players}
            is_free = all(limit is None or busy[name] < limit for name, limit in most.items())
            if key not in self.matches and is_free and len(due) < room:
                busy.update(fixture.players)
                due[key] = fixture
        return due

    def plan_of(self, key: str, fixture: Fixture, seats: Mapping[str, Seat]) -> Plan:
        """Return the match of a fixture.

        Both matches of a meeting share their seed, except between users' bots in games with hidden
        information: there, the replay of the first would show what the second hides.
        """
        is_hidden = not self.is_sent and self.facts.game in games_with_hidden_information()
        return Plan(
            NAME,
            key,
            self.facts.game,
            tuple(seats[name] for name in fixture.players),
            self.settings.match_options(fixture),
            self.facts.id,
            seed=None if is_hidden else self.settings.match_seed(fixture),
        )


def entry_of(fixture: Fixture, match: CupMatch) -> Entry:
    """Return a match as a championship entry; unranked seats share the last rank."""
    seats = match.seats
    last = max((seat.rank for seat in seats if seat.rank is not None), default=0) + 1
    return Entry(
        fixture.stage,
        fixture.group,
        fixture.round,
        fixture.players,
        fixture.tie_break,
        ranks=tuple(last if seat.rank is None else seat.rank for seat in seats),
        scores=tuple(0 if seat.score is None else seat.score for seat in seats),
        reason=CALLED_OFF if match.state == "void" else match.reason or "",
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


MOST_KEPT: Final = 16
"""Number of cups that a process keeps, for each database."""

_kept: Final[WeakKeyDictionary[Engine | Connection, LRUCache[int, Cup]]] = WeakKeyDictionary()
_lock: Final = Lock()


def read(session: Session, facts: CompetitionFacts, ended: int = 0) -> Cup:
    """Return a cup with its matches as they are now; raise UsageError if its settings are invalid.

    A process keeps the results that it has read, which are final, so it reads only the matches
    without one, and later matches. It does not keep that of `ended`, the match whose result this
    transaction writes, as that may be rolled back.
    """
    settings = settings_of(facts)
    with _lock:
        kept = _kept.setdefault(session.get_bind(), LRUCache(MOST_KEPT))
        cup = kept.get(facts.id)
    if cup is None or (cup.facts.slug, cup.settings) != (facts.slug, settings):
        cup = Cup(facts, settings)
        cup = replace(cup, fixtures=cup.asked({}))
    waiting = [match.id for match in cup.matches.values()]
    which = or_(Match.id > cup.latest, Match.id.in_(waiting))
    matches = matches_of(session, facts.id, which)
    # Read as still being played, it is read again next time.
    unsure = [m._replace(state="in_progress") if m.id == ended else m for m in matches]
    cup = replace(cup, facts=facts).plus(unsure)
    with _lock:
        kept[facts.id] = cup
    return cup.plus([match for match in matches if match.id == ended])


def plan(session: Session) -> None:
    """Plan the due matches of all running cups. Idempotent, also when called concurrently."""
    running = select(Competition.id).where(
        Competition.format == NAME, Competition.state == "running"
    )
    for cup in session.scalars(running.order_by(Competition.id)).all():
        plan_cup(session, cup)


def plan_cup(session: Session, competition: int, ended: int = 0) -> None:
    """Plan the due matches of a cup, and end it once there are none left; see `read` for `ended`.

    Concurrent callers wait, and then find the matches already planned.
    """
    row = competitions_service.lock(session, competition)
    if row.state != "running":
        return
    cup = read(session, facts_of(row), ended)
    if due := cup.due():
        seats = seats_of(session, cup.facts)
        for key, fixture in due.items():
            planning.plan(session, cup.plan_of(key, fixture, seats))
    if not cup.fixtures:
        competitions_service.set_state(session, competition, "over")


# Matches


def touch(session: Session, claim: Claim) -> Claim:
    """Mark the pages of a cup as changed; this locks it until the transaction ends."""
    session.execute(
        update(Competition)
        .where(Competition.id == claim.competition_id)
        .values(revision=Competition.revision + 1)
    )
    return claim


def finish(session: Session, claim: Claim, _: Sequence[BattleResult]) -> None:
    """Plan the matches that a result makes due."""
    if claim.competition_id is not None:
        plan_cup(session, claim.competition_id, claim.id)


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
        seats_of(session, cup)
        settings_of(cup).check()
    competitions_service.set_state(session, cup.id, state)
