"""All that a game is made of: what a package with a game of its own imports.

`docs/add-a-game.md` shows how these fit together. Arrays for learning are in `cw.games.spaces`,
which needs NumPy; tests that each game passes are in `cw.suite`.
"""

from cw.drawing import (
    DIM,
    Circle,
    Picture,
    Polygon,
    Rectangle,
    Scene,
    Shape,
    Stroke,
    Text,
    color,
    colour_of,
    cross,
    disc,
    grid,
    letter,
)
from cw.errors import IllegalAction, OutOfTurn, ProtocolError, UsageError
from cw.games.codec import Codec, DefaultCodec
from cw.games.endings import Endings
from cw.games.entry import Choice, GameEntry, PlayOptions, in_folder
from cw.games.rules import (
    Fault,
    Json,
    Outcome,
    Player,
    Rules,
    refuse_unknown_options,
    whole_number,
)

__all__ = [
    "DIM",
    "Choice",
    "Circle",
    "Codec",
    "DefaultCodec",
    "Endings",
    "Fault",
    "GameEntry",
    "IllegalAction",
    "Json",
    "OutOfTurn",
    "Outcome",
    "Picture",
    "PlayOptions",
    "Player",
    "Polygon",
    "ProtocolError",
    "Rectangle",
    "Rules",
    "Scene",
    "Shape",
    "Stroke",
    "Text",
    "UsageError",
    "color",
    "colour_of",
    "cross",
    "disc",
    "grid",
    "in_folder",
    "letter",
    "refuse_unknown_options",
    "whole_number",
]
