"""docs/lost-match.md is typed as it stands, and all that it shows and says of the match is so."""

from __future__ import annotations

import os
import re

import pytest

from cw.replays.document import decode
from tests.tools import require
from tests.typed import Terminal, Typed, parts, typed

PARTS = parts("docs/lost-match.md")
TIME = re.compile(r"\d+\.\d+ (m?s)\b")


def timeless(line: str) -> str:
    """Return a line without times and gaps: all else is the same whenever it is typed."""
    return " ".join(TIME.sub(r"# \1", line).split())


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the page is for the shells of Linux and macOS")
def test_the_defect_that_lost_the_match_is_found_and_mended(terminal: Terminal) -> None:
    require("python")
    terminal.type(Typed(". .venv/bin/activate", ()))
    for one in (one for title in PARTS for one in typed(PARTS[title])):
        printed = iter([timeless(line) for line in terminal.type(one)])
        missing = [line for line in one.output if timeless(line) not in printed]
        assert not missing, one.command
    part = " ".join(PARTS["Where the answers differ"].split())
    assert "from turn 12 on it gives the same answer for 44 turns" in part
    document = decode((terminal.folder.parent / "lab-bot" / "lost.json.gz").read_bytes())
    directions = [turn["actions"]["bot.py"]["direction"] for turn in document["turns"][11:]]
    assert directions[:44] == [[-1, -1]] * 44 != directions[1:45]
