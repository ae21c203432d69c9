"""Matches in a notebook: the cells of docs/notebook.md, run in a loop as a kernel runs them."""

from __future__ import annotations

import ast
import asyncio
import re
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

from cw.errors import Failure, ProtocolError, UsageError
from cw.notebook import PlayedMatch, play, show
from cw.replays.document import encode
from tests.documented import DOCS

CELLS = re.findall(r"^```python\n(.*?)^```", (DOCS / "notebook.md").read_text("utf-8"), re.M | re.S)


def evaluated(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell; return the value of its last line, which a notebook shows."""
    *statements, last = ast.parse(cell).body
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(statements, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


async def in_a_kernel() -> list[Any]:
    names: dict[str, Any] = {}
    return [evaluated(cell, names) for cell in CELLS]


def test_the_cells_of_the_page_show_matches() -> None:
    match, ranks, largest = asyncio.run(in_a_kernel())
    assert repr(match).startswith("hexagon, seed 1: mine won by score")
    assert ranks == {"random": 2, "mine": 1}
    assert repr(largest).startswith("paint, seed ")
    for report in (match, largest):
        frame = re.fullmatch(
            rf"<p>{re.escape(escape(repr(report)))}</p>"
            r'<iframe srcdoc="([^"]*)" title="[^"]*" sandbox="[^"]*" style="[^"]*"></iframe>',
            report._repr_html_(),
        )
        assert frame
        height = re.search(r"height: (\d+)px", report._repr_html_()[-200:])
        # Below this height the viewer leaves the turn out, as its style sheet says.
        assert height
        assert int(height[1]) > 600
        assert 'id="replay-data"' in unescape(frame[1])


def test_a_program_plays_and_its_faults_are_told(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("raise SystemExit('no')\n")
    match = play("circuit-wars", "builtin:random", f"me=python:{bot}", size=1, timeout=60)
    assert isinstance(match, PlayedMatch)
    assert [fault.kind for fault in match.result.faults] == ["crashed"]
    assert "by forfeit" in repr(match)


def test_a_file_is_shown(tmp_path: Path) -> None:
    match = play("circuit-wars", "builtin:random", "builtin:random", seed=2, size=1)
    file = tmp_path / "match.json.gz"
    file.write_bytes(encode(match.document, packed=True))
    assert show(file)._repr_html_() == match._repr_html_()
    assert repr(show(str(file))) == repr(match)


def test_what_cannot_be_played_or_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no game 'chess'"):
        play("chess", "builtin:random", "builtin:random")
    with pytest.raises(UsageError, match="size must be"):
        play("circuit-wars", "builtin:random", "builtin:random", size=2)
    with pytest.raises(Failure, match="cannot be read"):
        show(tmp_path / "missing.json")
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(ProtocolError):
        show(tmp_path / "bad.json")
