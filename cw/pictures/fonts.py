"""The font of captions: measures texts, and shortens them to fit."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from PIL import ImageFont

AnyFont = ImageFont.FreeTypeFont | ImageFont.ImageFont

MOST_LETTERS: Final = 200
"""Texts are cut to this many characters before they are measured."""


@lru_cache(64)
def font(size: float) -> AnyFont:
    """Return the font at a size in pixels."""
    return ImageFont.load_default(size)


def width_of(text: str, size: float) -> float:
    """Return the width of a text in pixels."""
    return font(size).getlength(text)


def printable(text: str) -> str:
    """Return a text with "?" for characters that are not printable, such as line feeds."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:MOST_LETTERS])


def fitted(text: str, size: float, width: float) -> str:
    """Return a text, cut with an ellipsis if it is wider than a width in pixels."""
    if width_of(text, size) <= width:
        return text
    count = len(text)
    while count and width_of(text[:count] + "…", size) > width:
        count -= 1
    return text[:count].rstrip() + "…"
