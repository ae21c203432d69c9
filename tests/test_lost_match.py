"""docs/lost-match.md is typed as it stands: its defect is found by the command that it names."""

from __future__ import annotations

import os
import re

import pytest

from tests.typed import Terminal, Typed, needs, parts, typed

PARTS = parts("docs/lost-match.md")


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the page is for the shells of Linux and macOS")
def test_the_defect_that_lost_the_match_is_found_and_mended(terminal: Terminal) -> None:
    needs("python3")
    terminal.type(Typed(". .venv/bin/activate", ()))
    printed = {
        one.command: "\n".join(terminal.type(one)) for title in PARTS for one in typed(PARTS[title])
    }
    every = "cw replay ask lost.json.gz bot.py --every"
    found = re.search(r"the first in turn (\d+)\.$", printed[every], re.M)
    assert found
    asked = next(command for command in printed if "talking.py --player" in command)
    assert asked.endswith(f" --turn {found[1]}")
    won = [text for command, text in printed.items() if "--games 5" in command]
    wins = [int(re.findall(r"^(?:yesterday|bot)\.py +(\d+) ", text, re.M)[0]) for text in won]
    assert wins[1] > wins[0]
