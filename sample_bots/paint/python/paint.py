"""Paint for bots: the conversation over standard input and output, and its events."""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import Any, NoReturn

Action = tuple[str, tuple[int, int]]
Square = tuple[int, int]

DIRECTIONS = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)
"""The eight directions `(drow, dcol)`; row grows downward."""

ACTIONS: tuple[Action, ...] = tuple(
    (kind, direction) for kind in ("walk", "shoot") for direction in DIRECTIONS
)
"""The 16 actions, as (type, direction)."""


class State:
    """The board of a turn: `colors[row][col]` is a player id or None, `player_id` yours.

    `player_positions` gives the square `[row, col]` of each id; `turns_left` counts this turn
    too; `previous_actions` holds one dictionary a turn, the oldest first; `obstacles` are squares.
    """

    def __init__(self, player_id: str, document: dict[str, Any]) -> None:
        """Read a message; raises KeyError and TypeError if it is none."""
        self.player_id = player_id
        self.turns_left: int = document["turns_left"]
        self.width: int = document["width"]
        self.height: int = document["height"]
        self.player_positions: dict[str, list[int]] = document["player_positions"]
        self.colors: list[list[str | None]] = document["colors"]
        self.previous_actions: list[dict[str, Any]] = document.get("previous_actions", [])
        self.obstacles: list[list[int]] = document.get("obstacles", [])

    def position(self) -> Square:
        """Give the square of your avatar."""
        row, col = self.player_positions[self.player_id]
        return row, col

    def is_free(self, row: int, col: int) -> bool:
        """Tell whether a square is on the board and no obstacle."""
        on_board = 0 <= row < self.height and 0 <= col < self.width
        return on_board and [row, col] not in self.obstacles


class Bot:
    """What you write: `choose`, and whichever of the other events you want to hear of."""

    def on_start(self, player_id: str) -> None:
        """Hear who you are; there are 5 s until you must be ready."""

    def choose(self, state: State) -> Action:
        """Give your action, as (type, direction); there is 0.5 s for it."""
        raise NotImplementedError

    def on_end(self) -> None:
        """Hear that the game is over."""


def run(bot: Bot) -> NoReturn:
    """Play until the referee closes our input."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    player_id = ""
    for line in sys.stdin.buffer:
        started = time.monotonic()
        message = _read(player_id, line)
        if isinstance(message, State):
            _take_turn(bot, message, started)
        elif message is not None:
            player_id = message
            bot.on_start(player_id)
            _send({"ready": True}, f"ready as {player_id}", started)
        elif line.strip():
            _log("skipped an unreadable line")
    bot.on_end()
    sys.exit(0)


def _read(player_id: str, line: bytes) -> State | str | None:
    """Give the player id or the state that a line holds; None if it holds neither."""
    try:
        message = json.loads(line)
        if "player_id" in message:
            return str(message["player_id"])
        return State(player_id, message)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _take_turn(bot: Bot, state: State, started: float) -> None:
    kind, (down, right) = bot.choose(state)
    answer = {"turns_left": state.turns_left, "type": kind, "direction": [down, right]}
    _send(answer, f"turns_left {state.turns_left}: {kind} [{down},{right}]", started)


def _send(message: dict[str, Any], text: str, started: float) -> None:
    _log(f"{text} {(time.monotonic() - started) * 1000:.1f} ms")
    sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def _log(text: str) -> None:
    """Write to standard error: standard output belongs to the referee."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
