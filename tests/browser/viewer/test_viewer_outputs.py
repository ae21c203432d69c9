"""What the owner of a bot sees in the viewer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from cw.arena.program import ERROR_OUTPUT
from cw.replays import document as replays_document
from cw.replays.outputs import Output, write_outputs
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.browser.axe import complaints
from tests.browser.conftest import Watcher
from tests.browser.recorded import recorded
from tests.browser.viewer.viewing import (
    HOSTILE,
    READY,
    Altered,
)
from tests.fixtures import Serve

# What the owner of a bot sees


@pytest.mark.thorough
def test_the_owner_sees_what_bots_put_out(serve: Serve, watcher: Watcher, tmp_path: Path) -> None:
    file = tmp_path / "match.json"
    file.write_bytes(replays_document.encode(recorded("hexagon"), packed=False))
    lines = "\n".join(f"line {number} {HOSTILE}" for number in range(200))
    write_outputs(file, [Output(), Output(lines, [(0, 0), (3, len(lines) - 20)])])
    site = serve(create_app(SiteSettings(timeout=3, replays=tmp_path, owner=True)))
    page = watcher.page
    page.goto(f"{site}/replays/match")
    page.wait_for_selector(READY)
    part = page.get_by_role("region", name="Output of the bots")
    expect(part.get_by_role("heading", level=3)).to_have_count(1)
    text = part.get_by_role("region", name="Output of bot1")
    expect(text).to_contain_text(f"line 199 {HOSTILE}")
    region = page.get_by_role("region", name="Output of bot1 in this turn")
    page.evaluate("location.hash = '#turn=3'")
    expect(region).to_have_text(lines[-20:])
    page.keyboard.press("ArrowLeft")
    expect(region).to_have_count(0)
    assert text.evaluate("(one) => one.scrollTop + one.clientHeight >= one.scrollHeight - 2")
    assert complaints(page) == []
    page.get_by_role("switch", name="Hide the result").check()
    expect(part).to_be_hidden()
    page.keyboard.press("End")
    expect(part).to_be_visible()


@pytest.mark.thorough
def test_the_last_line_of_an_exception_stands_first_and_its_traceback_below(
    altered: Altered,
) -> None:
    trace = 'Traceback (most recent call last):\n  File "bot.py", line 3, in move\nKeyError: 7\n'
    detail = f"the process ended with exit code 1{ERROR_OUTPUT}{trace}"
    crash = {"turn": 3, "player": 1, "kind": "crash", "detail": detail}
    page = altered(recorded("hexagon") | {"faults": [crash]}, "#turn=4")
    fault = page.locator("#happened li").first
    expect(fault.locator(".did > *").first).to_have_text("KeyError: 7")
    whole = fault.locator("pre")
    expect(whole).to_be_hidden()
    fault.get_by_text("Full traceback").click()
    expect(whole).to_be_visible()
    assert whole.inner_text() == trace.rstrip()


@pytest.mark.thorough
def test_response_times_are_told_by_turn_and_in_sum(altered: Altered) -> None:
    document = recorded("hexagon")
    turns = [
        turn | {"ms": dict.fromkeys(turn["ms"], 1200 if number == 11 else 3.25)}
        for number, turn in enumerate(document["turns"])
    ]
    page = altered(document | {"turns": turns}, "#turn=4")
    expect(page.locator("#happened .took")).to_have_text(["3.3 ms"])
    rows = page.get_by_role("region", name="Response times").get_by_role("row")
    slow = next(iter(turns[11]["ms"]))
    name = next(seat["name"] for seat in document["players"] if str(seat["player"]) == slow)
    row = rows.filter(has_text=name)
    expect(row).to_have_text(re.compile(r"3\.3 ms.*3\.3 ms.*1\.2 s in turn 12"))
    row.get_by_role("button", name="turn 12").click()
    expect(page.locator("#turn")).to_have_text("12")
    expect(page.locator("#happened .took")).to_have_text(["1.2 s"])
