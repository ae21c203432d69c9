"""The lines of the README are typed one after the other, as a new user types them."""

from __future__ import annotations

import os
import re
from itertools import chain

import pytest

from tests.tools import MAKE
from tests.typed import Terminal, Typed, parts, typed

PARTS = parts("README.md")


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the lines are for the shells of Linux and macOS")
def test_each_line_of_the_readme_works_after_the_one_before(terminal: Terminal) -> None:
    MAKE.program("make")
    terminal.type(Typed("make demo", ()))
    outputs = [terminal.type(one) for one in chain.from_iterable(map(typed, PARTS.values()))]
    printed = "\n".join(chain.from_iterable(outputs))
    assert re.search(r"^You (won|lost)\.$", printed, re.M), printed
    assert "paint, seed" in printed
    assert (terminal.folder / "results" / "report" / "index.html").is_file()
