"""A game played by agents: the common basis of all environments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from cw.arena.bots import split_player
from cw.arena.class_runner import Act, acting, calling, player_of
from cw.envs.spaces import Arrays, OwnDocuments, Table, Translation, image
from cw.errors import UsageError, short
from cw.games.registry import load_game, load_spaces, load_strategy, load_terminal
from cw.games.rules import Json, Outcome, Player

BUILTIN: Final = "builtin:"
PYTHON: Final = "python:"

Bot: TypeAlias = str | Callable[..., Any]
"""`builtin:NAME`, `python:PATH[:NAME]`, or a class or function as in such a file."""


class Opponent(Protocol):
    """A bot in one seat of a game."""

    def act(self, view: Any) -> Any:
        """Return the action for a player's view."""


class OwnBot:
    """A class or function called in this process; its exceptions are not caught."""

    def __init__(self, act: Act, table: Table, player: Player) -> None:
        """Create the bot of a player."""
        self._act = act
        self._documents = OwnDocuments(table)
        self._player = player
        game = table.game
        self._configuration = {"game": game.name, "player": player, "actTimeout": None}
        self._write_view = game.codec.view_to_json

    def act(self, view: Any) -> Any:
        """Return the bot's action; raise UsageError if it cannot be parsed as one."""
        question = {"view": self._write_view(view), "configuration": self._configuration}
        try:
            return self._documents.action(self._player, self._act(json.dumps(question)))
        except UsageError as error:
            raise UsageError(f"the bot of {self._player}: {error}") from None


def seated(bot: Bot, table: Table, player: Player, seed: int) -> Opponent:
    """Return a bot for a new game; raise UsageError if the value is not a bot."""
    if not isinstance(bot, str):
        return OwnBot(acting(bot()) if isinstance(bot, type) else calling(bot), table, player)
    if bot.startswith(BUILTIN):
        strategy = load_strategy(table.game.name, bot.removeprefix(BUILTIN))
        return strategy(player, Random(f"{seed} {player}"))
    path, name = split_player(bot.removeprefix(PYTHON))
    try:
        return OwnBot(player_of(path, name or ""), table, player)
    except SystemExit as error:
        raise UsageError(f"{bot}: {error}") from None


def read_bots(bots: Mapping[str, Bot], seats: Mapping[str, Player]) -> dict[str, Bot]:
    """Return the bots by agent; raise UsageError if a bot or a seat is invalid."""
    for agent, bot in bots.items():
        if agent not in seats:
            raise UsageError(f"there is no agent {short(agent)}; choose one of {', '.join(seats)}")
        if isinstance(bot, str) and not bot.startswith((BUILTIN, PYTHON)):
            raise UsageError(
                f"{agent}: environments seat {BUILTIN}NAME, {PYTHON}PATH[:NAME], or a class or"
                f" function, not {short(bot)}"
            )
        if not isinstance(bot, str) and not callable(bot):
            raise UsageError(f"{agent}: a bot is text, a class or a function, not {short(bot)}")
        if isinstance(bot, str) and bot.startswith(PYTHON):
            path, _ = split_player(bot.removeprefix(PYTHON))
            if not Path(path).is_file():
                raise UsageError(f"{agent}: there is no file {path!r}")
    if len(bots) == len(seats):
        raise UsageError("all seats are given to bots: leave one to an agent")
    return dict(bots)


LARGEST_SEED: Final = 2**31 - 1


class AgentGame:
    """A game whose players are agents, with bots in some of the seats."""

    def __init__(
        self, name: str, players: int | None, bots: Mapping[str, Bot], options: Mapping[str, Json]
    ) -> None:
        """Create the game; raise UsageError if the arguments are invalid."""
        game, spaces = load_game(name), load_spaces(name)
        number = fewest(game.rules.seats) if players is None else players
        if number not in game.rules.seats:
            least, most = game.rules.seats.start, game.rules.seats.stop - 1
            raise UsageError(f"{name} is for {least} to {most} players, not {short(players)}")
        settled = options if spaces is None else spaces.settled(number, options)
        self.table = Table(game, number, settled)
        seats = {
            f"player_{seat}": player
            for seat, player in enumerate(game.rules.players(self.table.state))
        }
        self.bots = {seats[agent]: bot for agent, bot in read_bots(bots, seats).items()}
        self.seats = {agent: player for agent, player in seats.items() if agent not in bots}
        """Agent -> its player."""
        self.simultaneous = len(self.table.to_move) > 1
        self.translation: Translation = (
            OwnDocuments(self.table) if spaces is None else Arrays(spaces, self.table)
        )
        self.observation_spaces = {
            agent: self.translation.observation_space(player)
            for agent, player in self.seats.items()
        }
        self.action_spaces = {
            agent: self.translation.action_space(player) for agent, player in self.seats.items()
        }
        self.rng = Random()
        self.reset(0)

    @property
    def name(self) -> str:
        """The name of the environment, with the version of the rules."""
        game = self.table.game
        return f"{game.name.replace('-', '_')}_v{game.version}"

    @property
    def outcome(self) -> Outcome | None:
        """The outcome, or None while the game is running."""
        return self.table.game.rules.outcome(self.table.state)

    def reset(self, seed: int | None) -> None:
        """Start a game with a seed; without one, draw it from the last given seed."""
        if seed is not None:
            self.rng = Random(seed)
        drawn = self.rng.randint(0, LARGEST_SEED) if seed is None else seed
        self.table.start(drawn)
        self.strategies = {
            player: seated(bot, self.table, player, drawn) for player, bot in self.bots.items()
        }
        self._play_alone()

    def due(self) -> list[str]:
        """Return the agents who owe an action, in seat order."""
        to_move = self.table.to_move
        return [agent for agent, player in self.seats.items() if player in to_move]

    def turn(self, actions: Mapping[str, Any]) -> None:
        """Play a turn with the agents' actions, and continue until an agent owes another."""
        self._play({self.seats[agent]: action for agent, action in actions.items()})
        self._play_alone()

    def _play_alone(self) -> None:
        while self.outcome is None and not self.due():
            self._play({})

    def _play(self, actions: Mapping[Player, Any]) -> None:
        table = self.table
        of_bots = {
            player: self.strategies[player].act(table.view(player))
            for player in table.to_move
            if player in self.strategies
        }
        table.state = table.game.rules.step(table.state, {**of_bots, **actions})

    def observe(self, agent: str) -> Any:
        """Return what an agent sees."""
        return self.translation.observation(self.seats[agent])

    def read(self, agent: str, value: Any) -> Any:
        """Return an agent's action as used by the rules; raise UsageError if it is invalid."""
        try:
            return self.translation.action(self.seats[agent], value)
        except UsageError as error:
            raise UsageError(f"{agent}: {error}") from None

    def rewards(self) -> dict[str, float]:
        """Return the reward of each agent: 0 until there is an outcome.

        It is the fraction of the other players ranked behind it, minus the fraction ranked before
        it: from -1 for the last to 1 for the first; with two players 1, 0 or -1.
        """
        outcome = self.outcome
        if outcome is None:
            return dict.fromkeys(self.seats, 0.0)
        players = self.table.game.rules.players(self.table.state)
        return {agent: reward(outcome, player, players) for agent, player in self.seats.items()}

    def drawn(self) -> str:
        """Return the board as terminal output, with colours as escape sequences."""
        text = StringIO()
        console = Console(file=text, force_terminal=True, color_system="256", soft_wrap=True)
        console.print(load_terminal(self.table.game.name)(self.frame))
        return text.getvalue()

    def image(self) -> NDArray[np.uint8]:
        """Return the board as an RGB array of rows x columns x 3."""
        game = self.table.game
        return image(game.name, self.frame, game.rules.players(self.table.state))

    @property
    def frame(self) -> Json:
        """The referee's view of the state, as JSON."""
        game = self.table.game
        return game.codec.view_to_json(game.rules.observe(self.table.state, None))


def fewest(seats: range) -> int:
    """Return the smallest number of players with which they play against each other."""
    return next((number for number in seats if number > 1), seats.start)


def reward(outcome: Outcome, player: Player, players: Sequence[Player]) -> float:
    """Return the reward of a player; players without a rank count as behind all who have one."""
    mine, *others = (
        outcome.ranks.get(each, len(players) + 1)
        for each in (player, *(other for other in players if other != player))
    )
    return sum((rank > mine) - (rank < mine) for rank in others) / max(1, len(others))
