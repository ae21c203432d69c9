"""The font of captions: how wide a text is, and how much of it fits."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from PIL import ImageFont

AnyFont = ImageFont.FreeTypeFont | ImageFont.ImageFont

MOST_LETTERS: Final = 200
"""Letters of a text that are looked at."""


@lru_cache(64)
def font(size: float) -> AnyFont:
    """Return the font for letters of a size in pixels."""
    return ImageFont.load_default(size)


def width_of(text: str, size: float) -> float:
    """Return the width of a text in pixels."""
    return font(size).getlength(text)


def printable(text: str) -> str:
    """Return a text of one line, in which nothing controls what shows it."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:MOST_LETTERS])


def fitted(text: str, size: float, width: float) -> str:
    """Cut a text so that it fits into a width in pixels."""
    if width_of(text, size) <= width:
        return text
    count = len(text)
    while count and width_of(text[:count] + "…", size) > width:
        count -= 1
    return text[:count].rstrip() + "…"
