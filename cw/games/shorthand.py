"""How a game shortens its replays where many are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from cw.games.rules import Json


class ShortActions(NamedTuple):
    """The actions of a turn, in two parts: each compresses better among its like."""

    units: Mapping[str, Json]
    """By player: which units act, or the action itself where it cannot be shortened."""
    ways: Mapping[str, Json]
    """By player: what these units do; a player whose action was not shortened is missing."""


class Shorthand(Protocol):
    """What need not be stored of a turn, since it follows from the frame before.

    Archives depend on it for good: it is no part of the rules, which may change.
    """

    def shorten(self, frame: Json, actions: Mapping[str, Json]) -> ShortActions:
        """Return the actions of a turn that begins with a frame."""

    def lengthen(self, frame: Json, short: ShortActions) -> dict[str, Json]:
        """Return the actions that were shortened."""

    def expected(self, frame: Json, actions: Mapping[str, Json]) -> Json:
        """Return the frame after a turn if nothing happens but what was ordered.

        What is stored is how the real frame differs, so a good guess is a short replay, and a bad
        one no error.
        """
