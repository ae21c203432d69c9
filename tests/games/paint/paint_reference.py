"""The turn of Paint written down plainly, to hold the engine against."""

from __future__ import annotations

from cw.games.paint.state import Action, State

Cell = tuple[int, int]


def reference_turn(
    state: State, actions: dict[str, Action]
) -> tuple[dict[str, Cell], dict[Cell, str]]:
    """Return where the avatars stand after a turn, and who owns which square."""
    free = {
        (row, col) for row in range(state.height) for col in range(state.width)
    } - state.obstacles
    old = dict(zip(state.players, state.positions, strict=True))
    owners: dict[Cell, str] = {}
    for index, color in enumerate(state.colors):
        if color is not None:
            owners[divmod(index, state.width)] = state.players[color]

    new = dict(old)
    for player, action in actions.items():
        if action.type == "walk":
            target = (old[player][0] + action.direction[0], old[player][1] + action.direction[1])
            if target in free:
                new[player] = target
    while True:
        crowded = {cell for cell in new.values() if list(new.values()).count(cell) > 1}
        if not crowded:
            break
        new = {player: old[player] if cell in crowded else cell for player, cell in new.items()}

    owners.update({cell: player for player, cell in new.items()})
    painted = set(new.values())

    shots = []
    for player, action in actions.items():
        if action.type == "shoot":
            down, right = action.direction
            count, cell = 0, new[player]
            while owners.get(cell := (cell[0] - down, cell[1] - right)) == player:
                count += 1
            shots.append((player, new[player], (down, right), max(1, count)))
    while shots:
        shots = [
            (player, (cell[0] + way[0], cell[1] + way[1]), way, left - 1)
            for player, cell, way, left in shots
        ]
        cells = [cell for _, cell, _, _ in shots]
        shots = [
            shot
            for shot in shots
            if shot[1] in free and cells.count(shot[1]) == 1 and shot[1] not in painted
        ]
        for player, cell, _, _ in shots:
            owners[cell] = player
            painted.add(cell)
        shots = [shot for shot in shots if shot[3] > 0]
    return new, owners
