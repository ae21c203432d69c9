"""Spaces, observations and actions: as arrays if a game defines them, otherwise as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Protocol

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from numpy.typing import NDArray

from cw.drawing import STILL
from cw.errors import IllegalAction, ProtocolError, UsageError, short
from cw.games.codec import Game
from cw.games.registry import load_picture
from cw.games.rules import Fault, Json, Player
from cw.games.spaces import Spaces
from cw.pictures.exports import scenes
from cw.pictures.raster import image_of
from cw.pictures.sheets import board_sheet


class MaskedNumbers(MultiDiscrete[np.int64]):
    """Several numbers with the same number of values; their masks are concatenated in one array."""

    def __init__(self, numbers: int, values: int) -> None:
        """Create the space; values start at 0."""
        super().__init__([values] * numbers)
        self.values = values

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Draw each number from the values allowed by its part of the mask; 0 if none is allowed.

        Tuples of masks and of probabilities are handled as by MultiDiscrete.
        """
        if not isinstance(mask, np.ndarray):
            return super().sample(mask, probability)
        allowed = mask.reshape(len(self.nvec), self.values)
        # Draws are positive, so allowed values always win over masked ones.
        draws = 1 - self.np_random.random(allowed.shape)
        return (draws * allowed).argmax(axis=1)


class LegalActions(Space[Json]):
    """The actions that are currently legal for an agent, as JSON; None if it owes none."""

    def __init__(self, draw: Callable[[Random], Json], is_legal: Callable[[Json], bool]) -> None:
        """Create a space from two functions, which apply the rules to the current state."""
        super().__init__()
        self.draw = draw
        self.is_legal = is_legal

    def sample(self, mask: Any = None, probability: Any = None) -> Json:
        """Draw a random action as the rules do; masks are not supported."""
        return self.draw(Random(int(self.np_random.integers(2**62))))

    def contains(self, x: Any) -> bool:
        """Return whether a JSON value is an action that is currently legal."""
        return self.is_legal(x)

    @property
    def is_np_flattenable(self) -> bool:
        """False: JSON has no array form."""
        return False


class Documents(Space[Json]):
    """Any JSON; a sample is the agent's current view."""

    def __init__(self, see: Callable[[], Json]) -> None:
        """Create a space; `see` returns the agent's view of the current state."""
        super().__init__()
        self.see = see

    def sample(self, mask: Any = None, probability: Any = None) -> Json:
        """Return the agent's current view."""
        return self.see()

    def contains(self, x: Any) -> bool:
        """Return whether a value is JSON."""
        try:
            json.dumps(x)
        except (TypeError, ValueError, RecursionError):
            return False
        return True

    @property
    def is_np_flattenable(self) -> bool:
        """False: JSON has no array form."""
        return False


def image(game: str, frame: Json, players: Sequence[Player]) -> NDArray[np.uint8]:
    """Return the board as an RGB array of rows x columns x 3, of one size throughout a game."""
    seats = [{"player": player, "name": str(player), "bot": ""} for player in players]
    document: dict[str, Any] = {"players": seats, "turns": []}
    (scene,) = scenes(load_picture(game), document, [frame], [0], STILL)
    return np.asarray(image_of(board_sheet(scene)).convert("RGB"))


class Translation(Protocol):
    """Converts observations and actions between agents and the rules."""

    def observation_space(self, player: Player) -> Space[Any]:
        """Return the space of a player's observations."""

    def action_space(self, player: Player) -> Space[Any]:
        """Return the space of a player's actions."""

    def observation(self, player: Player) -> Any:
        """Return a player's current observation."""

    def action(self, player: Player, value: Any) -> Any:
        """Return an action as used by the rules; raise UsageError if it cannot be parsed."""


class Table:
    """The state of a game, and the rules that advance it."""

    def __init__(self, game: Game, players: int, options: Mapping[str, Json]) -> None:
        """Start a game with seed 0; raise UsageError if the options are invalid."""
        self.game = game
        self.players = players
        self.options = options
        self.start(0)

    def start(self, seed: int) -> None:
        """Start a game with a seed."""
        self.state = self.game.rules.new(self.players, seed, **self.options)

    def view(self, player: Player) -> Any:
        """Return a player's view of the state."""
        return self.game.rules.observe(self.state, player)

    @property
    def to_move(self) -> tuple[Player, ...]:
        """The players who owe an action."""
        return self.game.rules.to_move(self.state)


class Arrays:
    """Observations and actions as arrays with masks, as defined by the game."""

    def __init__(self, spaces: Spaces[Any, Any, Any], table: Table) -> None:
        """Read the sizes from the table's start state."""
        self.spaces, self.table = spaces, table
        self.shape = (*spaces.board(table.state), len(spaces.planes))
        self.numbers, self.values = spaces.choices(table.state)

    def observation_space(self, player: Player) -> Space[Any]:
        """Return the space of an observation: planes and a mask."""
        most = np.iinfo(np.int16).max
        mask = Box(0, 1, (self.numbers * self.values,), np.int8)
        return Dict({"observation": Box(0, most, self.shape, np.int16), "action_mask": mask})

    def action_space(self, player: Player) -> Space[Any]:
        """Return the space of an action: one number, or several."""
        if self.numbers == 1:
            return Discrete(self.values)
        return MaskedNumbers(self.numbers, self.values)

    def observation(self, player: Player) -> dict[str, Any]:
        """Return planes and the flattened mask, which is zero while the player owes no action."""
        view = self.table.view(player)
        mask = self.spaces.mask(view, player)
        if player not in self.table.to_move:
            mask = np.zeros_like(mask)
        planes = self.spaces.write_view(view, player)
        return {"observation": planes, "action_mask": mask.reshape(-1)}

    def action(self, player: Player, value: Any) -> Any:
        """Convert a number, or an array of numbers, to an action."""
        array = np.asarray(value)
        expected = () if self.numbers == 1 else (self.numbers,)
        whole = np.issubdtype(array.dtype, np.integer) and array.shape == expected
        if not whole or np.any((array < 0) | (array >= self.values)):
            what = "a whole number" if self.numbers == 1 else f"{self.numbers} whole numbers"
            raise UsageError(f"an action is {what} from 0 to {self.values - 1}, not {short(value)}")
        view = self.table.view(player)
        return self.spaces.read_action(view, player, array.reshape(-1).tolist())


class OwnDocuments:
    """Views and actions as JSON, in the form bots send, for a game that defines no arrays."""

    def __init__(self, table: Table) -> None:
        """Create the translation for the state of a table."""
        self.table = table
        self.rules, self.codec = table.game.rules, table.game.codec

    def observation_space(self, player: Player) -> Space[Any]:
        """Return the space of an observation: an object with a view."""
        return Dict({"view": Documents(lambda: self.observation(player)["view"])})

    def action_space(self, player: Player) -> Space[Any]:
        """Return the space of the currently legal actions."""
        return LegalActions(lambda rng: self._draw(player, rng), lambda x: self._legal(player, x))

    def observation(self, player: Player) -> dict[str, Any]:
        """Return an object with the player's view."""
        return {"view": self.codec.view_to_json(self.table.view(player))}

    def action(self, player: Player, value: Any) -> Any:
        """Convert JSON to an action; whether it is legal is up to the rules."""
        try:
            action = self.codec.actions_from_json(self.table.state, {str(player): value})[player]
        except ProtocolError as error:
            raise UsageError(str(error)) from None
        if isinstance(action, Fault):
            raise UsageError(f"an action cannot be a fault: {short(value)}")
        return action

    def _draw(self, player: Player, rng: Random) -> Json:
        if player not in self.table.to_move:
            return None
        return self.codec.action_to_json(self.rules.sample(self.table.state, player, rng))

    def _legal(self, player: Player, value: Any) -> bool:
        if player not in self.table.to_move:
            return value is None
        try:
            self.rules.check(self.table.state, player, self.action(player, value))
        except (UsageError, IllegalAction):
            return False
        return True
