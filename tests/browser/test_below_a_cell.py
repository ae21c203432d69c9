"""A match below the cell of a notebook, in a real browser: shown, and reaching nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from cw.notebook import ShownReplay
from tests.browser.conftest import Watcher, watch
from tests.browser.recorded import recorded
from tests.effort import first_is_fast

GAMES = ("circuit-wars", "code-battle")


@pytest.fixture
def offline(browser: Browser) -> Iterator[Watcher]:
    """Return a page without a network."""
    context = browser.new_context(offline=True)
    yield watch(context)
    context.close()


@pytest.mark.parametrize("game", first_is_fast(GAMES))
def test_the_viewer_plays_below_the_cell(offline: Watcher, tmp_path: Path, game: str) -> None:
    document = recorded(game)
    names = [
        {**player, "name": f'"><b>{number}'} for number, player in enumerate(document["players"])
    ]
    match = ShownReplay({**document, "players": names})
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><h1>Notebook</h1>{match._repr_html_()}", encoding="utf-8")
    page = offline.page
    page.goto(file.as_uri())
    assert page.locator("b").count() == 0
    frame = page.frame_locator("iframe")
    frame.locator("#viewer[data-surveyed=true]").wait_for()
    expect(frame.locator("#players .name")).to_have_text([player["name"] for player in names])
    frame.locator("#last").click()
    expect(frame.locator("#turn")).to_have_text(str(len(document["turns"])))
    frame.locator("#back").click()
    expect(frame.locator("#turn")).to_have_text(str(len(document["turns"]) - 1))
    assert frame.locator(":root").evaluate("() => window.origin") == "null"
    schemes = {request.url.partition(":")[0] for request in offline.requests}
    assert schemes <= {"file", "data", "about"}
    # The buttons of dialogs are to be focused when those open; before, no frame is given the focus.
    assert {words.partition(" on a ")[0] for words in offline.complaints} <= {
        "Blocked autofocusing"
    }
