"""Sizes of type, radii and distances of all pages are those that static/base.css names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

STATIC = Path(__file__).resolve().parents[1] / "static"

PRINTED = "card_sheet.css"
"""The style of a page that is printed: it measures in millimetres and points."""

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


def declarations() -> Iterator[tuple[str, str, str]]:
    """Yield the file, the property and the value of all declarations but those of the tokens."""
    for file in sorted({*STATIC.glob("*.css"), *STATIC.glob("hub/**/*.css")}):
        if file.name != PRINTED:
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


def test_pages_measure_by_tokens() -> None:
    assert [each for each in declarations() if is_literal(*each[1:])] == []


def test_there_are_three_radii_and_six_sizes_of_type() -> None:
    text = (STATIC / "base.css").read_text(encoding="utf-8")
    assert len(re.findall(r"^  --radius[\w-]*:", text, re.M)) == 3
    assert len(re.findall(r"^  --text-[\w-]+:", text, re.M)) == 6
