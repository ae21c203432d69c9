"""docs/first-bot.md is typed as it stands, part by part, in a terminal of its own."""

from __future__ import annotations

import os
import re

import pytest

from tests.tools import MAKE, require
from tests.typed import Terminal, Typed, parts, typed

PARTS = parts("docs/first-bot.md")

LEAST_WINS = 7
"""Of ten. In 80 matches and more each bot has won all, that of Code Battle 97 of 100."""


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the page is for the shells of Linux and macOS")
@pytest.mark.parametrize("title", [title for title in PARTS if "```console" in PARTS[title]])
def test_what_the_page_says_is_what_happens(title: str, terminal: Terminal) -> None:
    MAKE.program("make")
    require("python")
    if title != "Install":
        terminal.type(Typed(". .venv/bin/activate", ()))
    compared = 0
    for one in typed(PARTS[title]):
        printed = "\n".join(terminal.type(one))
        if "--swap" in one.command:
            match = re.search(r"^bot\.py +(\d+) ", printed, re.M)
            assert match, printed
            assert int(match[1]) >= LEAST_WINS, printed
            compared += 1
    assert compared == len(re.findall(r"^```python$", PARTS[title], re.M))
