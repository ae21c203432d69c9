"""Pictures of recorded matches for tests, and a look at their pixels."""

from __future__ import annotations

from typing import Any

from PIL import Image, ImageColor

from cw.drawing import Sheet
from cw.pictures.exports import still
from cw.pictures.raster import image_of
from cw.replays import document as replays_document
from cw.web.replay_export import drawn
from tests.browser.recorded import recorded

Pixel = tuple[int, ...]


def document_of(game: str) -> replays_document.Document:
    """Return the replay of a game as a reader of its file gets it."""
    return replays_document.decode(replays_document.encode(recorded(game), packed=False))


def sheet_at(document: replays_document.Document, turn: int = -1) -> Sheet:
    """Draw a turn."""
    return still(drawn(document), turn)


class Look:
    """A painted turn of a document."""

    def __init__(self, document: replays_document.Document, turn: int = -1) -> None:
        self.sheet = sheet_at(document, turn)
        self.image: Image.Image = image_of(self.sheet)
        self.frame: Any = list(replays_document.frames(document))[turn]

    def at(self, x: float, y: float) -> Pixel:
        """Return the pixel at a place of the board, in cells."""
        board = self.sheet.parts[0]
        place = int(board.x + x * board.scale), int(board.y + y * board.scale)
        pixel = self.image.getpixel(place)
        assert isinstance(pixel, tuple)
        return pixel


def rgb(colour: str) -> Pixel:
    """Return a colour as a pixel."""
    return ImageColor.getrgb(colour)


def mixed(colour: str, ground: str, opacity: float) -> Pixel:
    """Return a translucent colour on a ground."""
    pairs = zip(rgb(colour), rgb(ground), strict=True)
    return tuple(round(over * opacity + under * (1 - opacity)) for over, under in pairs)


def close(one: Pixel, other: Pixel) -> bool:
    """Return whether two pixels differ by rounding only."""
    return all(abs(a - b) <= 2 for a, b in zip(one, other, strict=True))
