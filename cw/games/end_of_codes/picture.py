"""Renders the End of Codes map: creatures on numbered cells; (0, 0) is bottom left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from cw.drawing import (
    BEFORE,
    MARKED,
    Circle,
    Coordinate,
    Key,
    Number,
    Picture,
    Rectangle,
    Scene,
    Shape,
    Side,
    Stroke,
    arc,
    axes,
    counts,
    cross,
    disc,
    grid,
    mark_of,
    understood,
)

STEPS: Final[Mapping[str, tuple[int, int]]] = {
    "north": (0, -1),
    "east": (1, 0),
    "south": (0, 1),
    "west": (-1, 0),
}

CLOSE: Final = 12
"""The cell size in pixels from which creatures have letters and attacks are rendered."""

RINGED: Final = 24
"""The cell size in pixels from which a ring shows hit points."""

LEVELS: Final = 4
"""The number of hit point levels distinguished by colour strength."""


class Creature(msgspec.Struct, frozen=True, rename={"number": "creatureid", "user": "userid"}):
    """A creature; with no hit points it is dead."""

    number: Key
    user: Key
    x: Coordinate
    y: Coordinate
    hp: Number


class Frame(msgspec.Struct, frozen=True, rename={"width": "W", "height": "H", "most": "MAX_HP"}):
    """The members of a frame that the picture uses; `most` is the hit points at the start."""

    width: Side
    height: Side
    most: Annotated[int, Meta(ge=1)]
    creatures: tuple[Creature, ...]

    def __post_init__(self) -> None:
        """Raise ValueError for creatures off the map."""
        for creature in self.creatures:
            if creature.x >= self.width or creature.y >= self.height:
                raise ValueError(f"({creature.x}, {creature.y}) is not on the map")

    @property
    def living(self) -> Iterator[Creature]:
        """Yield the living creatures."""
        return (creature for creature in self.creatures if creature.hp > 0)


class Intent(msgspec.Struct, frozen=True, rename={"number": "creatureid"}):
    """The order to a creature."""

    number: Key
    action: str
    direction: str


def draw(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render the map."""
    frame = scene.frame
    thick = 1.5 / scene.scale
    yield Rectangle(
        -thick, -thick, frame.width + 2 * thick, frame.height + 2 * thick, scene.inks.muted
    )
    yield Rectangle(0, 0, frame.width, frame.height, scene.inks.ground)
    yield from grid(scene.scale, frame.width, frame.height, scene.inks.line)
    for creature in frame.living:
        yield from draw_creature(scene, creature)
    if scene.scale >= CLOSE:
        yield from draw_deaths(scene)
        yield from draw_attacks(scene)
    yield from axes(scene, frame.width, frame.height)


def draw_creature(scene: Scene[Frame], creature: Creature) -> Iterator[Shape]:
    """Render a creature, with its letter if there is room."""
    seat = scene.seat(creature.user)
    x, y = middle(scene.frame, creature)
    part = min(1.0, creature.hp / scene.frame.most)
    if scene.scale < CLOSE:
        level = min(LEVELS - 1, int(part * LEVELS))
        opacity = 0.55 + 0.45 * level / (LEVELS - 1)
        if seat >= 0 and scene.scale * 0.44 >= MARKED:
            yield mark_of(seat, (x, y), 0.44, scene.colour(seat), opacity)
        else:
            yield Circle(x, y, 0.46, scene.colour(seat), opacity)
        return
    yield from disc(scene, seat, (x, y), 0.4)
    if scene.scale >= RINGED:
        yield arc((x, y), 0.44, 0.06, scene.inks.ink, (0, part))


def middle(frame: Frame, creature: Creature) -> tuple[float, float]:
    """Return the centre of a creature's cell."""
    return creature.x + 0.5, frame.height - creature.y - 0.5


def draw_deaths(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render a fading cross where creatures died in the last rounds."""
    frames = (scene.frame, *scene.past)
    for back, (after, before) in reversed(list(enumerate(pairwise(frames)))):
        living = {creature.number for creature in before.living}
        for creature in after.creatures:
            if creature.hp <= 0 and creature.number in living:
                thick = max(0.1, 1.5 / scene.scale)
                fade = 1 - back / BEFORE
                yield from cross(middle(after, creature), 0.26, thick, scene.inks.death, fade)


def draw_attacks(scene: Scene[Frame]) -> Iterator[Shape]:
    """Render every attack as a short line from the attacker to the attacked cell."""
    if not scene.past:
        return
    before = {str(creature.number): creature for creature in scene.past[0].creatures}
    for intent in intents(scene):
        creature = before.get(str(intent.number))
        step = STEPS.get(intent.direction)
        if intent.action == "attack" and creature is not None and step is not None:
            x, y = middle(scene.frame, creature)
            start = (x + step[0] * 0.36, y + step[1] * 0.36)
            end = (x + step[0] * 0.64, y + step[1] * 0.64)
            yield Stroke(start, end, 0.1, scene.inks.ink)


def intents(scene: Scene[Frame]) -> Iterator[Intent]:
    """Yield the readable orders to creatures in the turn."""
    for action in scene.actions.values():
        entries = action.get("intent") if isinstance(action, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            intent = understood(entry, Intent)
            if intent is not None:
                yield intent


def scores(scene: Scene[Frame]) -> list[int]:
    """Count each player's living creatures."""
    return counts(scene, (creature.user for creature in scene.frame.living))


PICTURE: Final = Picture(
    title="End of Codes",
    frame=Frame,
    extent=lambda frame: (frame.width, frame.height),
    draw=draw,
    scores=scores,
    counted=("creature", "creatures"),
    numbered=True,
)
