"""Replays for analysis: frames and actions as JSON, as numpy arrays, or as a DataFrame."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from cw.errors import Failure
from cw.games.codec import is_fault
from cw.games.registry import load_game, load_spaces
from cw.games.rules import Json
from cw.replays import document as replays_document
from cw.replays.document import Document
from cw.replays.own_formats import decode


@dataclass(frozen=True)
class LoadedReplay:
    """A recorded match, turn by turn."""

    document: Document
    """The replay as in its file (docs/replay.md)."""

    @property
    def game(self) -> str:
        """The name of the game."""
        return str(self.document["game"])

    @property
    def seed(self) -> int:
        """The seed of the match."""
        return int(self.document["seed"])

    @property
    def players(self) -> dict[str, str]:
        """The names of the bots, by player id as in the actions, in seat order."""
        return {str(seat["player"]): seat["name"] for seat in self.document["players"]}

    @cached_property
    def frames(self) -> list[Json]:
        """What the referee saw: the start, then the position after each turn."""
        return list(replays_document.frames(self.document))

    @property
    def actions(self) -> list[dict[str, Json]]:
        """The actions of each turn, by player; a fault is `{"fault": kind, "error": sentence}`."""
        return [turn["actions"] for turn in self.document["turns"]]

    @property
    def milliseconds(self) -> list[dict[str, float]]:
        """The response times of each turn, by player."""
        return [turn.get("ms", {}) for turn in self.document["turns"]]

    @property
    def outcome(self) -> dict[str, Json] | None:
        """The reason for the end, the winner, and the scores; None if the match did not end."""
        outcome = self.document["result"].get("outcome")
        return outcome if isinstance(outcome, dict) else None

    @property
    def faults(self) -> list[dict[str, Json]]:
        """The faults: `turn`, the number of turns before, `player`, `kind` and `detail`."""
        return list(self.document["faults"])

    def rows(self) -> Iterator[dict[str, Json]]:
        """Yield one row for each action: turn from 1, player, name, action, fault, milliseconds."""
        names = self.players
        for number, turn in enumerate(self.document["turns"], 1):
            for player, action in turn["actions"].items():
                fault = action["fault"] if is_fault(action) else None
                yield {
                    "turn": number,
                    "player": player,
                    "name": names.get(player, player),
                    "action": None if fault else action,
                    "fault": fault,
                    "ms": turn.get("ms", {}).get(player),
                }

    def to_arrays(self) -> dict[str, Any]:
        """Return the match as numpy arrays, players in seat order.

        `ms` is turns x players, NaN where a player did not act; `faults` has the same shape, True
        for a fault. If the game has arrays for environments, `observations` is players x turns and
        one x rows x columns x planes: what each saw at the start and after each turn, as played by
        the installed rules. Raises UsageError if the game is not installed.
        """
        players = list(self.players)
        acted, times = self.actions, self.milliseconds
        arrays: dict[str, Any] = {
            "ms": np.array(
                [[turn.get(player, np.nan) for player in players] for turn in times], float
            ).reshape(len(times), len(players)),
            "faults": np.array(
                [[is_fault(turn.get(player)) for player in players] for turn in acted], bool
            ).reshape(len(acted), len(players)),
        }
        spaces = load_spaces(self.game)
        if spaces is not None:
            game = load_game(self.game)
            states = list(replays_document.states(game, self.document))
            arrays["observations"] = np.stack(
                [
                    np.stack(
                        [
                            spaces.write_view(game.rules.observe(state, player), player)
                            for state in states
                        ]
                    )
                    for player in game.rules.players(states[0])
                ]
            )
        return arrays

    def to_dataframe(self) -> Any:
        """Return the rows as a pandas DataFrame (requires pandas); actions are JSON text."""
        try:
            pandas = import_module("pandas")
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "to_dataframe needs pandas: pip install pandas", name="pandas"
            ) from None
        rows = [row | {"action": as_text(row["action"])} for row in self.rows()]
        return pandas.DataFrame(rows, columns=["turn", "player", "name", "action", "fault", "ms"])


def as_text(action: Json) -> str | None:
    """Return an action as text, or None for none."""
    return None if action is None else json.dumps(action)


def read_replay(path: str | Path) -> LoadedReplay:
    """Read a file like `cw.replays.load`."""
    try:
        with Path(path).open("rb") as source:
            data = source.read(replays_document.LARGEST)
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}") from None
    return LoadedReplay(decode(data).document)
