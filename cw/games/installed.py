"""Games of other packages: discovered by entry point, and tried before they are offered."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pkgutil import resolve_name
from random import Random
from traceback import format_exception_only
from typing import TYPE_CHECKING, Any, Final

from cw.errors import ArenaError, UsageError, short
from cw.extensions import extensions, source_of
from cw.games.codec import Game
from cw.games.endings import Endings
from cw.games.entry import GameEntry, PlayOptions, game_of
from cw.timed_calls import Begun

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "cw.games"
"""The entry point group in which packages name a GameEntry."""

NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_NAME: Final = 32
PATIENCE: Final = 5.0
"""Seconds within which a game must load and pass its trial; a slower one is offered once ready."""

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
    """A message naming the package, what is wrong with the game, and what to do."""


def found_games(names: Collection[str]) -> tuple[tuple[InstalledGame, ...], tuple[LeftOut, ...]]:
    """Return the games of other packages, by name: those that work, and those left out.

    `names` are the names already taken.
    """
    good: dict[str, InstalledGame] = {}
    left_out: list[LeftOut] = []
    for point in extensions(GROUP):
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


def refuse_name(name: str, names: Collection[str]) -> None:
    """Raise UsageError for an invalid name or one that another game has."""
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise UsageError(
            f"its name must be lower-case letters and digits, with - between words, at most"
            f" {LONGEST_NAME} characters"
        )
    if name in names:
        raise UsageError("another game has this name")


@cache
def trial(point: EntryPoint, _package: str, _version: str) -> Begun[GameEntry]:
    """Return the trial of a game, which runs concurrently with the loading of other games."""
    return Begun(partial(judged, point), PATIENCE)


def judged(point: EntryPoint) -> GameEntry:
    """Load and try a game; raise UsageError for any error in its code."""
    try:
        return tried(point)
    except ArenaError as error:
        raise UsageError(str(error)) from None
    # Whatever it raises, even SystemExit or KeyboardInterrupt, other games must stay playable.
    except BaseException as error:
        # An exception's text comes from third-party code too, which must not cause an error here.
        text = "".join(format_exception_only(error)).partition(": ")[2]
        words = " ".join(text.split())[:200]
        raises = f"{point.value} raises {type(error).__name__}"
        raise UsageError(f"{raises}: {words}" if words else raises) from None


def tried(point: EntryPoint) -> GameEntry:
    """Load a game and play a turn of it; raise UsageError, or whatever its code raises."""
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
    """Raise UsageError for rules with missing parts."""
    missing = [method for method in METHODS if not callable(getattr(rules, method, None))]
    if missing:
        raise UsageError(f"its rules have no method {missing[0]}")
    if getattr(rules, "name", None) != name:
        raise UsageError(f"its rules must have the name {name!r}")
    seats = getattr(rules, "seats", None)
    if not isinstance(seats, range) or not seats or seats.start < 1:
        raise UsageError(f"its rules must have seats such as range(2, 5), not {short(seats)}")


def refuse_part(where: str | None, kind: type) -> None:
    """Raise UsageError for a part without the type that pages need."""
    if where is not None and not isinstance(part := resolve_name(where), kind):
        raise UsageError(f"{where} must be {kind.__name__}(...), not {short(part)}")


def play_turn(game: Game) -> None:
    """Start a match and play a random turn, in the same way as every match."""
    rules, rng = game.rules, Random(0)
    state = rules.new(rules.seats.start, 0)
    actions = {player: rules.sample(state, player, rng) for player in rules.to_move(state)}
    if not actions or rules.outcome(state) is not None:
        raise UsageError("no player is to move at the start of a match")
    for player, action in actions.items():
        rules.check(state, player, action)
        game.codec.view_to_json(rules.observe(state, player))
        game.codec.action_to_json(action)
    json.dumps(game.codec.state_to_json(rules.step(state, actions)))
