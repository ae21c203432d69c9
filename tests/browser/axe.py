"""Whether pages are fit for all: what axe finds, and what is wider than the screen."""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, Final, Literal

from playwright.sync_api import Page

from tests.effort import THOROUGH

Scheme = Literal["light", "dark"]

SOURCE: Final = Path(__file__).parent / "vendor" / "axe-core-4.14.1" / "axe.min.js"

SCREENS: list[tuple[Scheme, int]] = [("light", 1280), ("dark", 390)]
"""Color schemes and widths of the screens on which axe looks at a page."""

if os.environ.get("CW_ALL_SCREENS"):
    SCREENS += [("dark", 1280), ("light", 390)]

LOOKED_AT: Final = SCREENS if THOROUGH or len(SCREENS) > 2 else SCREENS[:1]
"""The fast suite looks at the first alone."""

ALL: Final = ("minor", "moderate", "serious", "critical")
OF_WEIGHT: Final = ALL[2:]

NO_FADE: Final = """document.getAnimations().forEach((animation) => {
    if (animation.effect.getComputedTiming().endTime !== Infinity) animation.finish();
})"""
VIOLATIONS: Final = """
    axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)
"""
"""What axe finds wrong; of the rules that hold it lists a place each, which is far quicker."""


def complaints(page: Page, impacts: Container[str] = ALL) -> list[str]:
    """Return which rules are broken where, as axe finds them on a page as it stands."""
    page.evaluate(NO_FADE)
    if not page.evaluate("'axe' in window"):
        # Put in by the test, which the policy of the page does not bind.
        page.evaluate(SOURCE.read_text(encoding="utf-8"))
    return [
        f"{finding['id']}: {node['html'][:300]}"
        for finding in page.evaluate(VIOLATIONS)
        if finding["impact"] in impacts
        for node in finding["nodes"]
    ]


def serious(page: Page) -> list[str]:
    """Return which rules of weight are broken where."""
    return complaints(page, OF_WEIGHT)


def show_on(page: Page, scheme: Scheme, width: int) -> None:
    """Put a page onto a screen."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})


def on_each_screen(page: Page, find: Callable[[Page], list[str]] = complaints) -> list[str]:
    """Return what is wrong with a page on any screen; afterwards it is on the first again.

    Nothing is loaded again: an open menu stays open, and a page that has moved stays where it is.
    """
    wrong: list[str] = []
    for scheme, width in LOOKED_AT:
        show_on(page, scheme, width)
        problems: list[Any] = find(page)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            problems.append("it is wider than the screen")
        wrong += [f"{scheme}, {width}: {one}" for one in problems]
    show_on(page, *SCREENS[0])
    return wrong
