"""The four phases of a turn, in order (rule book, "A turn")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from cw.games.paint.rules.state import Action, Direction, Square, State

Colors: TypeAlias = list[int | None]
"""The owner of each square in reading order."""


class Shot:
    """A shot in flight: its square, its direction, and how many squares it may still advance."""

    __slots__ = ("col", "down", "player", "remaining", "right", "row")

    def __init__(self, player: int, square: Square, direction: Direction, reach: int) -> None:
        """Start on the shooter's square."""
        self.player = player
        self.row, self.col = square
        self.down, self.right = direction
        self.remaining = reach


def resolve(state: State, actions: Sequence[Action | None]) -> State:
    """Return the state after a turn; the action of a player without a valid one is None."""
    positions = walk(state, actions)
    colors: Colors = list(state.colors)
    paint_under_avatars(state.width, colors, positions)
    shots = aim(state, colors, positions, actions)
    if shots:
        fly(state, colors, shots, set(positions))
    # Twice as fast as `replace`, which looks up the fields each time.
    return State(
        state.width,
        state.height,
        state.players,
        tuple(positions),
        tuple(colors),
        state.obstacles,
        state.turns_left - 1,
        (*state.previous, tuple(actions)),
        state.history,
    )


def walk(state: State, actions: Sequence[Action | None]) -> list[Square]:
    """Return the avatars' squares after phase 1 (rules 1 to 3).

    All walk at once, then walkers are sent back until no two avatars share a square.
    """
    targets = list(state.positions)
    for player, action in enumerate(actions):
        if action is not None and action.type == "walk":
            row, col = targets[player]
            down, right = action.direction
            if state.is_free((row + down, col + right)):
                targets[player] = (row + down, col + right)
    # Each pass sends at least one walker back for good, so there is at most one per player.
    while len(set(targets)) < len(targets):
        arrivals = Counter(targets)
        targets = [
            start if arrivals[target] > 1 else target
            for start, target in zip(state.positions, targets, strict=True)
        ]
    return targets


def paint_under_avatars(width: int, colors: Colors, positions: Sequence[Square]) -> None:
    """Apply phase 2 (rule 4) to `colors`: the square under every avatar takes its colour."""
    for player, (row, col) in enumerate(positions):
        colors[row * width + col] = player


def aim(
    state: State, colors: Colors, positions: Sequence[Square], actions: Sequence[Action | None]
) -> list[Shot]:
    """Return the shots of phase 3 (rule 5), their reach read before any of them advances."""
    return [
        Shot(
            player,
            positions[player],
            action.direction,
            reach(state, colors, positions[player], action.direction, player),
        )
        for player, action in enumerate(actions)
        if action is not None and action.type == "shoot"
    ]


def reach(
    state: State, colors: Sequence[int | None], start: Square, direction: Direction, player: int
) -> int:
    """Return the number of the player's squares in an unbroken line behind it, at least 1."""
    width, height = state.width, state.height
    down, right = direction
    row, col = start[0] - down, start[1] - right
    count = 0
    while 0 <= row < height and 0 <= col < width and colors[row * width + col] == player:
        count += 1
        row, col = row - down, col - right
    return count or 1


def fly(state: State, colors: Colors, shots: list[Shot], painted: set[Square]) -> None:
    """Apply phase 4 (rules 6 to 9) to `colors`: advance all live shots until none is left.

    `painted` holds the squares painted in this turn, from the start including those under avatars,
    so one test stops shots at avatars and at fresh paint.
    """
    while shots:
        # All advance before any paints: the result must not depend on the order of shots.
        for shot in shots:
            shot.row += shot.down
            shot.col += shot.right
            shot.remaining -= 1
        entering = Counter([(shot.row, shot.col) for shot in shots]) if len(shots) > 1 else None
        live = [
            shot
            for shot in shots
            if (entering is None or entering[shot.row, shot.col] == 1)
            and (shot.row, shot.col) not in painted
            and state.is_free((shot.row, shot.col))
        ]
        for shot in live:
            painted.add((shot.row, shot.col))
            colors[shot.row * state.width + shot.col] = shot.player
        shots = [shot for shot in live if shot.remaining]
