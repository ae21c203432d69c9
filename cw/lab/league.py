"""A local league: a folder's bots and their earlier versions play until stopped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta

from cw import documents
from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.files import make_folder, write_whole
from cw.games.registry import load_game, load_play_options, load_strategies
from cw.games.rules import Json
from cw.lab.journal import Journal, MatchLine, Players, Save, places, read_lines
from cw.lab.versions import STORE, Stamp, Store, Version, stamps
from cw.league.glicko2 import Rating
from cw.league.informative_matches import Meetings, Strengths, most_informative, strengths
from cw.league.strength_tests import Z_95
from cw.matches.run import check_number
from cw.matches.spec import Isolation, MatchResult, MatchSpec
from cw.replays import document as replays_document


@dataclass(frozen=True, slots=True)
class LeagueRow:
    """A version's row in the table."""

    name: str
    since: str
    """The day on which it was added; "" for built-in strategies and removed versions."""
    plays: bool
    """Whether it still takes part: its bot is in the folder."""
    rating: Rating
    matches: int
    faults: int

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval of its rating, in Elo."""
        return Z_95 * self.rating.phi


@dataclass(frozen=True, slots=True)
class LeagueStandings:
    """The standings of a league at one time."""

    matches: int
    places: tuple[LeagueRow, ...]
    """The rows of the table, strongest first."""
    cross: dict[tuple[str, str], tuple[float, int]]
    """By pair of versions: the first one's score against the second, and the number of matches."""


class LeagueTally:
    """The results of a league's matches, counted as they finish."""

    def __init__(self) -> None:
        """Start without matches."""
        self.names: dict[str, int] = {}
        self._matches = 0
        self._played = Counter[str]()
        self._faults = Counter[str]()
        self._meetings = Meetings.of(0, [])
        self._strengths: Strengths | None = None

    def take(self, lines: Sequence[MatchLine], names: Iterable[str]) -> None:
        """Count those matches of a journal that are new, and add new names."""
        new = lines[self._matches :]
        for name in (*names, *(name for line in new for name in line.bots)):
            self.names.setdefault(name, len(self.names))
        self._meetings = self._meetings.grown(len(self.names))
        for line in new:
            seats = [self.names[name] for name in line.bots]
            self._meetings.add(seats, places(line.ranks))
            self._played.update(line.bots)
            for bad in line.faults:
                self._faults[bad.bot] += sum(bad.kinds.values())
        self._matches = len(lines)
        self._strengths = None

    @property
    def strengths(self) -> Strengths:
        """The estimated strengths of all versions."""
        if self._strengths is None:
            self._strengths = strengths(self._meetings)
        return self._strengths

    def next(
        self, playing: Sequence[str], flying: Iterable[Sequence[str]], seats: int, rng: Random
    ) -> tuple[str, ...]:
        """Return the versions of `playing` for the next match."""
        numbers = [self.names[name] for name in playing]
        here = {name: number for number, name in enumerate(playing)}
        known = Strengths(
            self.strengths.mu[numbers], self.strengths.covariance[np.ix_(numbers, numbers)]
        )
        matches = [[here[name] for name in match if name in here] for match in flying]
        return tuple(playing[number] for number in most_informative(known, matches, seats, rng))

    def standings(self, versions: Iterable[Version]) -> LeagueStandings:
        """Return the standings, with current and former versions."""
        since = {version.name: version.since for version in versions}
        played, faults = self._played, self._faults
        ratings = self.strengths.ratings
        table = [
            LeagueRow(
                name, since.get(name, ""), name in since, ratings[at], played[name], faults[name]
            )
            for name, at in self.names.items()
        ]
        table.sort(key=lambda place: (-place.rating.mu, place.name))
        return LeagueStandings(self._matches, tuple(table), self._cross())

    def _cross(self) -> dict[tuple[str, str], tuple[float, int]]:
        names, meetings = list(self.names), self._meetings
        return {
            (names[one], names[other]): (
                float(meetings.scores[one, other]),
                int(meetings.number[one, other]),
            )
            for one, other in zip(*np.nonzero(meetings.number), strict=True)
        }


def document(standing: LeagueStandings) -> dict[str, Json]:
    """Return the standings as JSON."""
    return {
        "matches": standing.matches,
        "versions": [
            {
                "name": place.name,
                "since": place.since or None,
                "plays": place.plays,
                "rating": round(place.rating.mu, 1),
                "deviation": round(place.rating.phi, 1),
                "matches": place.matches,
                "faults": place.faults,
                "against": {
                    other.name: {"score": score, "matches": matches}
                    for other in standing.places
                    if (pair := standing.cross.get((place.name, other.name)))
                    for score, matches in [pair]
                },
            }
            for place in standing.places
        ],
    }


MATCHES: Final = "matches.jsonl"
REPLAYS: Final = "replays"
MATCH_ID: Final = re.compile(r"([0-9]{1,9})-([0-9]{1,3})")
"""A match id: the number of its meeting, and by how many positions the seats are rotated."""


@dataclass(frozen=True, slots=True)
class League:
    """The settings of a league."""

    folder: Path
    game: str
    players: int
    """Number of players in a match."""
    options: dict[str, Json] = field(default_factory=dict)
    builtins: bool = False
    """Whether the built-in strategies take part."""
    seed: int = 0
    isolation: Isolation = field(default_factory=Isolation)

    @property
    def head(self) -> dict[str, Json]:
        """The header of its journal."""
        return {
            "kind": "league",
            "game": self.game,
            "players": self.players,
            "options": self.options,
            "builtins": self.builtins,
            "seed": self.seed,
        }

    @property
    def file(self) -> Path:
        """The file of its journal."""
        return self.folder / STORE / MATCHES


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The journal's header, with the settings of the league."""

    game: str
    players: Annotated[int, Meta(ge=2, le=1000)] | None = None
    options: dict[str, Json] = {}
    builtins: bool = False
    seed: Annotated[int, Meta(ge=0)] = 0
    kind: Literal["league"] = "league"


def read_league(folder: Path, stated: dict[str, Json], isolation: Isolation) -> League:
    """Return the league of a folder with the stated settings.

    They come from the header of its journal and from options. Raises UsageError if they are not
    those of a league, for an unknown game, or for a number of players that cannot play it.
    """
    try:
        head = documents.convert(stated, Head)
    except msgspec.ValidationError as error:
        raise UsageError(f"{folder} contains no league that can be continued: {error}") from None
    seats = load_game(head.game).rules.seats
    players = head.players or max(2, seats.start)
    check_number(head.game, seats, players)
    options = {**load_play_options(head.game).measured, **head.options}
    return League(folder, head.game, players, options, head.builtins, head.seed, isolation)


class Field:
    """The participants: all versions of the bots currently in the folder."""

    def __init__(self, league: League, tell: Callable[[str], None]) -> None:
        """Read the folder; report bots that cannot play through `tell`."""
        self._league = league
        self._store = Store(league.folder, league.game)
        self._tell = tell
        self._stamps: dict[str, Stamp] = {}
        self._seen: dict[str, Stamp] = {}
        self.versions: tuple[Version, ...] = ()
        # Look twice, so that bots that are already there can play immediately.
        self.look()
        self.look()

    def look(self) -> None:
        """Accept changes in the folder once two successive looks agree.

        A file that is still being written differs between them.
        """
        before, self._seen = self._seen, stamps(self._league.folder)
        settled = {bot: stamp for bot, stamp in self._seen.items() if before.get(bot) == stamp}
        changed = [bot for bot, stamp in settled.items() if self._stamps.get(bot) != stamp]
        if not changed and self._stamps.keys() == self._seen.keys() and self.versions:
            return
        for bot in changed:
            self._stamps[bot] = settled[bot]
            try:
                self._store.take(bot)
            except UsageError as error:
                self._tell(f"{bot} cannot play: {error}")
        self._stamps = {bot: stamp for bot, stamp in self._stamps.items() if bot in self._seen}
        self.versions = versions_of(self._league, self._store, self._seen)


def versions_of(league: League, store: Store, bots: Iterable[str]) -> tuple[Version, ...]:
    """Return the stored versions of these bots, plus any participating built-in strategies."""
    versions = [version for bot in bots for version in store.versions(bot)]
    names = load_strategies(league.game) if league.builtins else ()
    return (*versions, *(Version(BotSpec(name, "builtin", name), "") for name in names))


def standings_of(league: League) -> LeagueStandings:
    """Return the standings of a league that another process may be playing; change nothing."""
    tally, store = LeagueTally(), Store(league.folder, league.game)
    versions = versions_of(league, store, stamps(league.folder))
    lines = tuple(read_lines(league.file)) if league.file.exists() else ()
    tally.take(lines, [version.name for version in versions])
    return tally.standings(versions)


class Planner:
    """Chooses the next match, based on all finished ones."""

    def __init__(self, league: League, journal: Journal, field_: Field) -> None:
        """Resume from the contents of a journal."""
        self.league = league
        self.field = field_
        self.tally = LeagueTally()
        self.journal = journal
        self._asked: dict[str, MatchSpec] = {}
        self._number = 0

    def specs(self, most: int | None) -> Iterator[MatchSpec]:
        """Yield matches on demand, until there are `most` in total.

        Also ends if too few bots are left to play.
        """
        yield from self._begun()
        while most is None or len(self.journal.lines) + len(self._flying()) < most:
            self.field.look()
            self.take()
            playing = [version.name for version in self.field.versions]
            if len(playing) < self.league.players:
                return
            rng = Random(f"{self.league.seed} {self._number}")
            flying = [[bot.name for bot in spec.bots] for spec in self._flying()]
            names = self.tally.next(playing, flying, self.league.players, rng)
            yield from self._meeting(names)

    def take(self) -> None:
        """Count the matches finished so far."""
        names = [version.name for version in self.field.versions]
        self.tally.take(tuple(self.journal.lines.values()), names)

    def standings(self) -> LeagueStandings:
        """Return the current standings of the league."""
        self.take()
        return self.tally.standings(self.field.versions)

    def _begun(self) -> Iterator[MatchSpec]:
        """Yield the missing matches of unfinished meetings whose bots still take part."""
        here = {version.name for version in self.field.versions}
        meetings = begun(self.journal.lines.values())
        for number, names in meetings.items():
            self._number = number
            if here.issuperset(names):
                specs = self._meeting(names)
                yield from (spec for spec in specs if spec.id not in self.journal.lines)
        self._number = max(meetings, default=-1) + 1

    def _meeting(self, names: tuple[str, ...]) -> Iterator[MatchSpec]:
        """Yield the matches of a meeting: one seed, with each bot in each seat once."""
        bots = {version.name: version.bot for version in self.field.versions}
        number, self._number = self._number, self._number + 1
        league = self.league
        for shift in range(len(names)):
            order = tuple(bots[name] for name in (*names[shift:], *names[:shift]))
            spec = MatchSpec(
                f"{number}-{shift}",
                league.game,
                order,
                league.seed + number,
                league.options,
                isolation=league.isolation,
            )
            self._asked[spec.id] = spec
            yield spec

    def _flying(self) -> list[MatchSpec]:
        """Return the matches that were requested but are not finished."""
        lines = self.journal.lines
        self._asked = {id_: spec for id_, spec in self._asked.items() if id_ not in lines}
        return list(self._asked.values())


def begun(lines: Iterable[MatchLine]) -> dict[int, tuple[str, ...]]:
    """Return the bots of each meeting, by its number, in the seat order of its first match."""
    meetings: dict[int, tuple[str, ...]] = {}
    for line in tuple(lines):
        match = MATCH_ID.fullmatch(line.id)
        if match is None:
            raise UsageError(f"{line.id!r} is not a match of a league: give another folder")
        at = len(line.bots) - int(match[2])
        meetings[int(match[1])] = (*line.bots[at:], *line.bots[:at])
    return dict(sorted(meetings.items()))


Watch: TypeAlias = Callable[[LeagueStandings], None]
"""Called with the standings after each match."""


async def play_league(planner: Planner, playing: Players, most: int | None, watch: Watch) -> None:
    """Play until there are `most` matches, or indefinitely; recorded matches are not repeated."""
    specs, save = planner.specs(most), saving(planner.league)
    async with aclosing(playing.play(specs, {}, planner.journal, save)) as finished:
        async for _ in finished:
            watch(planner.standings())


def replays_of(league: League) -> Path:
    """Return the replay folder of a league."""
    return league.folder / STORE / REPLAYS


def saving(league: League) -> Save:
    """Return a function that writes the replay of each match in a league."""
    folder = replays_of(league)
    make_folder(folder)

    def save(spec: MatchSpec, result: MatchResult) -> None:
        write_whole(
            folder / f"{spec.id}.json.gz", replays_document.encode(result.replay, packed=True)
        )

    return save
