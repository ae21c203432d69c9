"""Replays in Code Battle's own format, watched in a real Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from cw.games.code_battle import exporter
from cw.games.registry import load_game
from cw.replays import document as replays_document
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.browser.conftest import Watcher, watch
from tests.browser.recorded import frames, recorded
from tests.fixtures import Serve
from tests.mutations import spoiled

READY = "#viewer[data-surveyed=true]"
COUNTS = ("energy", "collected", "score")
"""The counts of a player that the format tells; the viewer draws no others."""

READ = """async (texts) => {
  const { readReplay } = await import("/static/viewer/replay.js");
  const found = [];
  for (const text of texts) {
    try {
      const replay = await readReplay(new TextEncoder().encode(text));
      found.push({ frames: [...Array(replay.last + 1).keys()].map((turn) => replay.frame(turn)) });
    } catch (error) {
      found.push({ name: error.name, said: error.message });
    }
  }
  return found;
}"""
"""Reads files as the viewer does; gives their frames, or what is said of them."""


def exported() -> bytes:
    """Return the replay of a match of three players in the format."""
    document = recorded("code-battle")
    return exporter.export(
        document, list(replays_document.states(load_game("code-battle"), document))
    )


@pytest.fixture
def watcher(browser: Browser) -> Iterator[Watcher]:
    with browser.new_context() as context:
        yield watch(context)


@pytest.fixture
def site(serve: Serve, tmp_path: Path) -> str:
    """A server with that replay in its folder, under a name that is not a replay's of the arena."""
    (tmp_path / "own.json").write_bytes(exported())
    return serve(create_app(SiteSettings(timeout=3, replays=tmp_path)))


def drawing(frame: Any) -> Any:
    """Return what the viewer draws of a frame."""
    counts = [{name: player[name] for name in COUNTS} for player in frame["players"]]
    return frame | {"players": counts}


def test_frames_are_those_of_the_rules(site: str, watcher: Watcher) -> None:
    watcher.page.goto(f"{site}/replays/")
    [match] = watcher.page.evaluate(READ, [exported().decode()])
    assert match["frames"] == [drawing(frame) for frame in frames("code-battle")]


@pytest.mark.thorough
def test_a_file_is_watched(site: str, watcher: Watcher, tmp_path: Path) -> None:
    page = watcher.page
    page.goto(f"{site}/replays/")
    page.get_by_label("Watch a file").set_input_files(tmp_path / "own.json")
    page.wait_for_selector(READY)
    page.keyboard.press("End")
    last = len(recorded("code-battle")["turns"])
    expect(page.locator("#turn")).to_have_text(str(last))
    expect(page.locator("#lead")).to_contain_text("won")
    expect(page.locator("#happened li")).not_to_have_count(0)
    assert watcher.complaints == []


@pytest.mark.thorough
def test_an_address_of_this_site_is_watched(site: str, watcher: Watcher) -> None:
    page = watcher.page
    page.goto(f"{site}/replays/?url=/replays/own/document")
    page.wait_for_selector(READY)
    expect(page.locator("#shelf")).to_be_hidden()
    expect(page.locator("#subtitle")).to_contain_text("Code Battle")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://127.0.0.1:9/x.json", "only replays of this site and its store"),
        ("data:application/json,{}", "only replays of this site and its store"),
        ("/replays/none/document", "did not return this replay (404)"),
        ("/games/", "This file is not JSON."),
    ],
)
def test_another_address_is_refused(
    site: str, watcher: Watcher, address: str, message: str
) -> None:
    watcher.page.goto(f"{site}/replays/?url={address}")
    expect(watcher.page.get_by_role("alert")).to_contain_text(message)
    expect(watcher.page.locator("#shelf")).to_be_visible()
    assert watcher.origins() == {site}


@pytest.mark.thorough
def test_hostile_files_end_in_a_sentence(site: str, watcher: Watcher) -> None:
    document = json.loads(exported())
    del document["turns"][12:]
    del document["map"]["walls"][20:]
    rng = Random(5)
    texts = [spoiled(rng, document).decode("utf-8", "replace") for _ in range(200)]
    watcher.page.goto(f"{site}/replays/")
    results = watcher.page.evaluate(READ, texts)
    sentences = [one["said"] for one in results if "said" in one]
    assert {one["name"] for one in results if "name" in one} == {"Error"}
    assert len(sentences) > 40
    assert all(sentence.endswith(".") for sentence in sentences)
