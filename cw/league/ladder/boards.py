"""The types of boards for the rounds of a ladder, and which one is next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Mode: TypeAlias = Literal["add", "replace"]


@dataclass(frozen=True, slots=True)
class BoardSpec:
    """A type of board for rounds."""

    name: str
    options: Mapping[str, Any]
    """Options of the game."""
    factor: int = 1
    """Factor for the points of its matches."""

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> BoardSpec:
        """Return the board type from a document written by `to_json`."""
        return BoardSpec(document["name"], document["options"], document["factor"])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON document that is stored in events and rounds."""
        return {"name": self.name, "options": dict(self.options), "factor": self.factor}


def active_boards(lists: Iterable[tuple[Mode, Sequence[BoardSpec]]]) -> list[BoardSpec]:
    """Return the board types in play after the lists of all applied events, in order."""
    active: list[BoardSpec] = []
    for mode, boards in lists:
        active = [] if mode == "replace" else active
        active += [board for board in boards if board not in active]
    return active


def next_board(active: Sequence[BoardSpec], used: Sequence[BoardSpec]) -> BoardSpec:
    """Return the least recently used type; unused ones come first, in list order.

    `used` has the board of each round of the group, the earliest first.
    """
    # By identity, as their options make board types unhashable.
    last = {id(board): -1 for board in active}
    for number, earlier in enumerate(used):
        last |= {id(board): number for board in active if board == earlier}
    return min(active, key=lambda board: last[id(board)])
