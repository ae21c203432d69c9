"""The tutorial in docs/lab.md is typed as it stands, and all that it shows of the match is so."""

from __future__ import annotations

import os
import re

import pytest

from cw.replays.document import decode
from tests.tools import require
from tests.typed import Terminal, Typed, parts, typed

PART = parts("docs/lab.md")["From a lost match to a stronger bot"]
TIME = re.compile(r"\d+\.\d+ (m?s)\b")


def timeless(line: str) -> str:
    """Return a line without times and gaps: all else is the same whenever it is typed."""
    return " ".join(TIME.sub(r"# \1", line).split())


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the page is for the shells of Linux and macOS")
def test_the_defect_that_lost_the_match_is_found_and_mended(terminal: Terminal) -> None:
    require("python")
    terminal.type(Typed(". .venv/bin/activate", ()))
    for one in typed(PART):
        printed = iter([timeless(line) for line in terminal.type(one)])
        missing = [line for line in one.output if timeless(line) not in printed]
        assert not missing, one.command
    words = " ".join(PART.split())
    assert "From turn 12 on, your bot gives the same answer for 44 turns" in words
    document = decode((terminal.folder.parent / "lab-bot" / "lost.json.gz").read_bytes())
    directions = [turn["actions"]["bot.py"]["direction"] for turn in document["turns"][11:]]
    assert directions[:44] == [[-1, -1]] * 44 != directions[1:45]
