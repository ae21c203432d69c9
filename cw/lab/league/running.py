"""Plays a league: its folder is checked repeatedly, and the most informative match is next.

What is played follows from the matches that are over. So a league that was killed goes on where it
was: a meeting that was begun is finished, and whatever is written down is not played again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from cw import documents
from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.files import make_folder, write_whole
from cw.games.registry import load_game, load_play_options, load_strategies
from cw.games.rules import Json
from cw.lab.journal import Journal, MatchLine, read_lines
from cw.lab.league.standing import LeagueStandings, LeagueTally
from cw.lab.league.versions import STORE, Stamp, Store, Version, stamps
from cw.lab.playing import Players, Save
from cw.matches.run import check_number
from cw.matches.spec import Isolation, MatchResult, MatchSpec
from cw.replays import document as replay

MATCHES: Final = "matches.jsonl"
REPLAYS: Final = "replays"
MATCH_ID: Final = re.compile(r"([0-9]{1,9})-([0-9]{1,3})")
"""The id of a match: the number of its meeting, and by how much the seats are moved on."""


@dataclass(frozen=True, slots=True)
class League:
    """What a league plays, and where."""

    folder: Path
    game: str
    players: int
    """Of a match."""
    options: dict[str, Json] = field(default_factory=dict)
    builtins: bool = False
    """Whether the built-in strategies take part."""
    seed: int = 0
    isolation: Isolation = field(default_factory=Isolation)

    @property
    def head(self) -> dict[str, Json]:
        """What its journal says of it."""
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
        """Its journal."""
        return self.folder / STORE / MATCHES


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of a journal: what is played."""

    game: str
    players: Annotated[int, Meta(ge=2, le=1000)] | None = None
    options: dict[str, Json] = {}
    builtins: bool = False
    seed: Annotated[int, Meta(ge=0)] = 0
    kind: Literal["league"] = "league"


def read_league(folder: Path, stated: dict[str, Json], isolation: Isolation) -> League:
    """Return the league of a folder, from what its journal says, or is to say.

    Raises UsageError for what is not a league, an unknown game, and a number of players that cannot
    play it.
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
    """Who takes part: the versions of the bots that are in the folder, as it is now."""

    def __init__(self, league: League, tell: Callable[[str], None]) -> None:
        """Look at the folder; `tell` is told of bots that cannot play."""
        self._league = league
        self._store = Store(league.folder, league.game)
        self._tell = tell
        self._stamps: dict[str, Stamp] = {}
        self._seen: dict[str, Stamp] = {}
        self.versions: tuple[Version, ...] = ()
        # Twice: what is there plays at once.
        self.look()
        self.look()

    def look(self) -> None:
        """Take in what has changed in the folder, once it has been the same for two looks.

        A file that is just being written is not the same.
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
    """Return the versions of these bots that are stored, and the built-in ones that take part."""
    versions = [version for bot in bots for version in store.versions(bot)]
    names = load_strategies(league.game) if league.builtins else ()
    return (*versions, *(Version(BotSpec(name, "builtin", name), "") for name in names))


def standings_of(league: League) -> LeagueStandings:
    """Return how a league stands that another process may be playing; nothing is changed."""
    tally, store = LeagueTally(), Store(league.folder, league.game)
    versions = versions_of(league, store, stamps(league.folder))
    lines = tuple(read_lines(league.file)) if league.file.exists() else ()
    tally.take(lines, [version.name for version in versions])
    return tally.standings(versions)


class Planner:
    """Says which match is next, by all that are over."""

    def __init__(self, league: League, journal: Journal, field_: Field) -> None:
        """Go on with what a journal holds."""
        self.league = league
        self.field = field_
        self.tally = LeagueTally()
        self.journal = journal
        self._asked: dict[str, MatchSpec] = {}
        self._number = 0

    def specs(self, most: int | None) -> Iterator[MatchSpec]:
        """Yield match after match, as they are asked for, until there are so many in all.

        It ends, too, where too few bots are left to play.
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
        """Take in the matches that are over by now."""
        names = [version.name for version in self.field.versions]
        self.tally.take(tuple(self.journal.lines.values()), names)

    def standings(self) -> LeagueStandings:
        """Return how the league stands now."""
        self.take()
        return self.tally.standings(self.field.versions)

    def _begun(self) -> Iterator[MatchSpec]:
        """Yield what is missing of meetings that were begun, if their bots are still there."""
        here = {version.name for version in self.field.versions}
        meetings = begun(self.journal.lines.values())
        for number, names in meetings.items():
            self._number = number
            if here.issuperset(names):
                specs = self._meeting(names)
                yield from (spec for spec in specs if spec.id not in self.journal.lines)
        self._number = max(meetings, default=-1) + 1

    def _meeting(self, names: tuple[str, ...]) -> Iterator[MatchSpec]:
        """Yield the matches of a meeting: one seed, in which each has each seat once."""
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
        """Return the matches that were asked for and are not over."""
        lines = self.journal.lines
        self._asked = {id_: spec for id_, spec in self._asked.items() if id_ not in lines}
        return list(self._asked.values())


def begun(lines: Iterable[MatchLine]) -> dict[int, tuple[str, ...]]:
    """Return the bots of each meeting by its number, in the seats of its first match."""
    meetings: dict[int, tuple[str, ...]] = {}
    for line in tuple(lines):
        match = MATCH_ID.fullmatch(line.id)
        if match is None:
            raise UsageError(f"{line.id!r} is not a match of a league: give another folder")
        at = len(line.bots) - int(match[2])
        meetings[int(match[1])] = (*line.bots[at:], *line.bots[:at])
    return dict(sorted(meetings.items()))


Watch: TypeAlias = Callable[[LeagueStandings], None]
"""Is told how a league stands after each match."""


async def play_league(planner: Planner, playing: Players, most: int | None, watch: Watch) -> None:
    """Play until there are so many matches, or for ever; matches in a journal are not repeated."""
    specs, save = planner.specs(most), saving(planner.league)
    async with aclosing(playing.play(specs, {}, planner.journal, save)) as finished:
        async for _ in finished:
            watch(planner.standings())


def replays_of(league: League) -> Path:
    """Return the folder of the replays of a league."""
    return league.folder / STORE / REPLAYS


def saving(league: League) -> Save:
    """Return what writes the replay of each match of a league."""
    folder = replays_of(league)
    make_folder(folder)

    def save(spec: MatchSpec, result: MatchResult) -> None:
        write_whole(folder / f"{spec.id}.json.gz", replay.encode(result.replay, packed=True))

    return save
