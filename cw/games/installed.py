"""The games of other packages: found by their entry points, and tried before they are offered."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pkgutil import resolve_name
from random import Random
from traceback import format_exception_only
from typing import TYPE_CHECKING, Any, Final

from cw.errors import ArenaError, UsageError, short
from cw.games.codec import Game
from cw.games.endings import Endings
from cw.games.entry import GameEntry, game_of
from cw.games.play_options import PlayOptions
from cw.time_limit import Begun

if TYPE_CHECKING:
    # It is loaded when somebody asks for a game that is not one of ours.
    from importlib.metadata import EntryPoint

GROUP: Final = "cw.games"
"""The group of entry points that name a GameEntry."""

NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_NAME: Final = 32
PATIENCE: Final = 5.0
"""Seconds in which a game must be loaded and tried; a slower one is offered once it is ready."""

METHODS: Final = ("new", "players", "to_move", "check", "step", "observe", "outcome", "sample")


@dataclass(frozen=True, slots=True)
class InstalledGame:
    """A game of another package."""

    name: str
    entry: GameEntry
    package: str
    version: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A game of another package that is not offered."""

    name: str
    sentence: str
    """Whose it is, what is wrong with it, and what to do."""


def found_games(names: Collection[str]) -> tuple[tuple[InstalledGame, ...], tuple[LeftOut, ...]]:
    """Return the games of other packages, by name: those to be offered, and the others.

    The names `taken` are those of other games.
    """
    good: dict[str, InstalledGame] = {}
    left_out: list[LeftOut] = []
    for point in points(tuple(sys.path)):
        package, version = source_of(point)
        try:
            refuse_name(point.name, {*names, *good})
            entry = trial(point, package, version).result()
            good[point.name] = InstalledGame(point.name, entry, package, version)
        except (UsageError, TimeoutError) as error:
            late = f"it could not be loaded from {point.value} within {PATIENCE:g} s"
            reason = late if isinstance(error, TimeoutError) else str(error)
            whose = f"the game {short(point.name)} of {package} {version} is left out: "
            cure = "; repair that package, or uninstall it"
            left_out.append(LeftOut(point.name, f"{whose}{reason}{cure}"))
    return tuple(good.values()), tuple(left_out)


@lru_cache(maxsize=8)
def points(_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of games, by name; looked up once for each search path."""
    known = resolve_name("importlib.metadata:entry_points")(group=GROUP)
    return tuple(sorted(known, key=lambda point: (point.name, *source_of(point))))


def source_of(point: EntryPoint) -> tuple[str, str]:
    """Return the name and the version of the package that has an entry point."""
    return (point.dist.name, point.dist.version) if point.dist else ("a package", "without version")


def refuse_name(name: str, names: Collection[str]) -> None:
    """Raise UsageError for a name that no game can have, or another game has."""
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise UsageError(
            f"its name must be lower-case letters and digits, with - between words, at most"
            f" {LONGEST_NAME} characters"
        )
    if name in names:
        raise UsageError("another game has this name")


@cache
def trial(point: EntryPoint, _package: str, _version: str) -> Begun[GameEntry]:
    """Return the trial of a game, which goes on while others are looked at."""
    return Begun(partial(judged, point), PATIENCE)


def judged(point: EntryPoint) -> GameEntry:
    """Load and try a game; raise UsageError, whatever its code raises."""
    try:
        return tried(point)
    except ArenaError as error:
        raise UsageError(str(error)) from None
    # Whatever it raises, SystemExit and KeyboardInterrupt too, other games can be played.
    except BaseException as error:
        # The text of an exception is code of others as well, which this does not let fail.
        text = "".join(format_exception_only(error)).partition(": ")[2]
        words = " ".join(text.split())[:200]
        raises = f"{point.value} raises {type(error).__name__}"
        raise UsageError(f"{raises}: {words}" if words else raises) from None


def tried(point: EntryPoint) -> GameEntry:
    """Load a game and play a turn of it; raise UsageError, or what its code raises, if it fails."""
    entry = point.load()
    if not isinstance(entry, GameEntry):
        raise UsageError(f"{point.value} must be a GameEntry, not {short(entry)}")
    game = game_of(entry)
    refuse_rules(point.name, game.rules)
    strategies = resolve_name(entry.strategies)
    if not isinstance(strategies, Mapping) or not strategies:
        raise UsageError(f"{entry.strategies} must be a mapping with at least one strategy")
    refuse_part(entry.endings, Endings)
    refuse_part(entry.play_options, PlayOptions)
    play_turn(game)
    return entry


def refuse_rules(name: str, rules: Any) -> None:
    """Raise UsageError for rules that lack something."""
    missing = [method for method in METHODS if not callable(getattr(rules, method, None))]
    if missing:
        raise UsageError(f"its rules have no method {missing[0]}")
    if getattr(rules, "name", None) != name:
        raise UsageError(f"its rules must have the name {name!r}")
    seats = getattr(rules, "seats", None)
    if not isinstance(seats, range) or not seats or seats.start < 1:
        raise UsageError(f"its rules must have seats such as range(2, 5), not {short(seats)}")


def refuse_part(where: str | None, kind: type) -> None:
    """Raise UsageError for a part that is not what pages need of it."""
    if where is not None and not isinstance(part := resolve_name(where), kind):
        raise UsageError(f"{where} must be {kind.__name__}(...), not {short(part)}")


def play_turn(game: Game) -> None:
    """Begin a match and play a turn by chance, as every match does."""
    rules, rng = game.rules, Random(0)
    state = rules.new(rules.seats.start, 0)
    actions = {player: rules.sample(state, player, rng) for player in rules.to_move(state)}
    if not actions or rules.outcome(state) is not None:
        raise UsageError("nobody is to move at the start of a match")
    for player, action in actions.items():
        rules.check(state, player, action)
        game.codec.view_to_json(rules.observe(state, player))
        game.codec.action_to_json(action)
    json.dumps(game.codec.state_to_json(rules.step(state, actions)))
