"""Scripts of pages, and what none of them does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

AS_HTML = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTMLUnsafe")

PARTICIPLE = re.compile(
    r"\b(?:const|let|function\*?) (found|given|heard|held|kept|made|said|seen|shown|taken)\b"
)
"""What does not say which thing it names: rows, text, spans, cells, ..."""


def scripts(static: Path) -> dict[str, str]:
    """Return our scripts in a folder, by their names there."""
    return {
        path.relative_to(static).as_posix(): path.read_text(encoding="utf-8")
        for path in static.rglob("*.js")
        if "vendor" not in path.parts
    }


def taking_html(static: Path) -> set[str]:
    """Return the scripts that take text for HTML."""
    return {name for name, text in scripts(static).items() if AS_HTML.search(text)}


def participles(static: Path) -> Iterator[str]:
    """Return what scripts name by a participle instead of a noun."""
    return (
        f"{name}: {word[0]}"
        for name, text in scripts(static).items()
        for word in PARTICIPLE.finditer(text)
    )
