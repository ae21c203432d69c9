"""How pages offer Tron: its strategies, its options, and moves by hand."""

from __future__ import annotations

from cw.author import Choice, Json, Player, PlayOptions
from tron.rules import WAYS, State


def moves(_state: State, _player: Player) -> list[Json]:
    """Return the documents of all actions."""
    return [{"way": way} for way in WAYS]


PLAY_OPTIONS = PlayOptions(
    strategies=("roomy", "random"),
    most_players=4,
    choices=(Choice("size", "Squares on each side", (15, 9, 21)),),
    moves=moves,
    words=lambda action: f"Ride {action['way']}",
)
