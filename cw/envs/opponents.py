"""Opponents in the seats given to bots: built-in strategies, and the user's own bots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final, Protocol, TypeAlias

from cw.arena.bots import split_player
from cw.arena.class_runner import Act, acting, calling, player_of
from cw.envs.translations import OwnDocuments, Table
from cw.errors import UsageError, short
from cw.games.registry import load_strategy
from cw.games.rules import Player

BUILTIN: Final = "builtin:"
PYTHON: Final = "python:"

Bot: TypeAlias = str | Callable[..., Any]
"""`builtin:NAME`, `python:PATH[:NAME]`, or a class or function as in such a file."""


class Opponent(Protocol):
    """A bot in a seat of one game."""

    def act(self, view: Any) -> Any:
        """Return the action for what the player sees."""


class OwnBot:
    """A class or function called in this process; its errors are not caught."""

    def __init__(self, act: Act, table: Table, player: Player) -> None:
        """Seat the bot."""
        self._act = act
        self._documents = OwnDocuments(table)
        self._player = player
        game = table.game
        self._configuration = {"game": game.name, "player": player, "actTimeout": None}
        self._write_view = game.codec.view_to_json

    def act(self, view: Any) -> Any:
        """Return its action; raise UsageError if it cannot be read as one."""
        question = {"view": self._write_view(view), "configuration": self._configuration}
        try:
            return self._documents.action(self._player, self._act(json.dumps(question)))
        except UsageError as error:
            raise UsageError(f"the bot of {self._player}: {error}") from None


def seated(bot: Bot, table: Table, player: Player, seed: int) -> Opponent:
    """Return a bot for a new game; raise UsageError if it is not a bot."""
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
    """Return the bots by agent; raise UsageError for bots or seats that are invalid."""
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
