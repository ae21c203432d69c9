"""How a game shortens its replays for storage in bulk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from cw.games.rules import Json


class ShortActions(NamedTuple):
    """The actions of a turn in two parts, because each compresses better separately."""

    units: Mapping[str, Json]
    """By player: the units that act, or the whole action if it cannot be shortened."""
    ways: Mapping[str, Json]
    """By player: what these units do; missing for a player whose action was not shortened."""


class Shorthand(Protocol):
    """What need not be stored of a turn because it follows from the previous frame.

    Archives depend on it for ever, so it is not part of the rules, which may change.
    """

    def shorten(self, frame: Json, actions: Mapping[str, Json]) -> ShortActions:
        """Return the shortened actions of a turn that starts with a frame."""

    def lengthen(self, frame: Json, short: ShortActions) -> dict[str, Json]:
        """Return the actions restored to full length."""

    def expected(self, frame: Json, actions: Mapping[str, Json]) -> Json:
        """Return the frame after a turn in which only the ordered actions take effect.

        Replays store the difference from the real frame: a good guess makes a short replay, and a
        bad one is no error.
        """
