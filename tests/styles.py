"""Styles of pages, and what they measure by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

DECLARATION = re.compile(r"([a-z-]+):\s*([^;{}]+);")
LITERALS = {
    "font-size": re.compile(r"\d(rem|px)"),
    "font": re.compile(r"\d(rem|px)"),
    "border-radius": re.compile(r"[1-9]\d*(px|rem|em)"),
    "gap": re.compile(r"\b([4-9]|\d\d+)px"),
    "margin": re.compile(r"\b([4-9]|\d\d+)px"),
    "padding": re.compile(r"\b([4-9]|\d\d+)px"),
}
"""By property what only the tokens may say; distances up to 3 px adjust what the eye sees."""


def declarations(files: Iterable[Path]) -> Iterator[tuple[str, str, str]]:
    """Yield the file, the property and the value of all declarations but those of the tokens."""
    for file in sorted(files):
        for name, value in DECLARATION.findall(file.read_text(encoding="utf-8")):
            yield file.name, name, value


def is_literal(name: str, value: str) -> bool:
    """Return whether a value measures by itself; type may grow from one token to the next."""
    if name == "font-size" and "var(--" in value:
        return False
    return any(
        pattern.search(value)
        for kind, pattern in LITERALS.items()
        if name == kind or name.startswith(f"{kind}-")
    )


def literals(files: Iterable[Path]) -> list[tuple[str, str, str]]:
    """Return the declarations that measure by themselves, where they could by a token."""
    return [each for each in declarations(files) if is_literal(*each[1:])]
