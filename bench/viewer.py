"""Benchmark of replays in Chromium: first rendering, and random turns of a large replay."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench.chromium import chromium
from bench.rows import Effort, Goal, NotMeasured, Row
from cw.arena.bots import read_bots
from cw.games.registry import load_game
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec
from cw.replays import document as replays_document
from cw.replays.json_diff import difference
from cw.server.wsgi import listen, serving
from cw.web import create_app
from cw.web.settings import SiteSettings

TURNS: Final = 500
CREATURES: Final = 15_000
ROUNDS: Final = 60
FRAME: Final = 1000 / 60
"""Milliseconds between two pictures of a usual screen."""

OPEN: Final = """async (name) => {
  const answer = await fetch(`/replays/${name}/document`);
  const data = new DataTransfer();
  data.items.add(new File([await answer.arrayBuffer()], `${name}.json`));
  const root = document.getElementById("viewer");
  const since = performance.now();
  const shown = new Promise((done) => {
    const watch = () => (root.dataset.state === "ready" ? done() : requestAnimationFrame(watch));
    requestAnimationFrame(watch);
  });
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
  await shown;
  await new Promise((done) => requestAnimationFrame(done));
  board.getContext("2d").getImageData(0, 0, 1, 1);
  return performance.now() - since;
}"""

SCRUB: Final = """async (turns) => {
  const times = [];
  for (const turn of turns) {
    await new Promise((done) => requestAnimationFrame(done));
    const since = performance.now();
    scrubber.value = turn;
    scrubber.dispatchEvent(new Event("input"));
    await new Promise((done) => requestAnimationFrame(done));
    board.getContext("2d").getImageData(0, 0, 1, 1);
    times.push(performance.now() - since);
  }
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)];
}"""


def rows(effort: Effort) -> list[Row]:
    """Measure both replays in the page, from the event to the finished picture."""
    path = chromium()
    documents = {
        f"code-battle, {TURNS} turns": code_battle,
        f"end-of-codes, {CREATURES:,} creatures": end_of_codes,
    }
    if path is None:
        return [row for what in documents for row in pair(what, None, None)]
    return [
        row
        for what, make in documents.items()
        for row in pair(what, *measured(path, make(), effort.repeats))
    ]


def pair(what: str, first: float | None, scrub: float | None) -> list[Row]:
    """Return the rows of one replay, in milliseconds."""
    soon, smooth = Goal("<", 1000, of="ours"), Goal("<", 50, of="ours")
    return [
        Row("viewer", f"{what}, first picture", first, "ms", "a frame at 60/s", FRAME, soon),
        Row("viewer", f"{what}, a random turn", scrub, "ms", "a frame at 60/s", FRAME, smooth),
    ]


def measured(path: str, document: replays_document.Document, repeats: int) -> tuple[float, float]:
    """Return the time to the first picture, and the median of that to a random turn."""
    rng, last = Random(1), len(document["turns"])
    with TemporaryDirectory() as folder:
        (Path(folder) / "match.json").write_bytes(replays_document.encode(document, packed=False))
        with page_at(path, Path(folder)) as page:
            first = page.evaluate(OPEN, "match")
            page.wait_for_selector("#viewer[data-surveyed=true]", timeout=120_000)
            scrub = page.evaluate(SCRUB, [rng.randrange(last + 1) for _ in range(repeats)])
    return first, scrub


@contextmanager
def page_at(path: str, folder: Path) -> Iterator[Any]:
    """Open the list of replays of a folder in Chromium."""
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    except ImportError:
        raise NotMeasured("the part viewer needs playwright: pip install playwright") from None
    app = create_app(SiteSettings(replays=folder))
    with sync_playwright() as playwright, serving(app, listen("127.0.0.1", 0)) as address:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{address}/replays/")
        yield page
        browser.close()


def code_battle() -> replays_document.Document:
    """Play a match of four players over all its turns."""
    names = ("gatherer", "hunter", "swarm", "rusher")
    bots = read_bots([f"builtin:{name}" for name in names]).bots
    spec = MatchSpec("bench", "code-battle", tuple(bots), 4, {"max_turns": TURNS})
    return asyncio.run(run_match(spec)).replay


def end_of_codes() -> replays_document.Document:
    """Let creatures stroll: half of them go to a neighbouring cell in every round."""
    rng, game = Random(1), load_game("end-of-codes")
    state = game.rules.new(15, 1, M=CREATURES // 15, MAX_HP=100)
    frame = replays_document.frame_of(game, state)
    document: replays_document.Document = {
        "version": replays_document.VERSION, "date": "", "rules": 1, "game": game.name,
        "options": {},
        "seed": 1, "start": {}, "frame": frame, "turns": [], "result": {}, "faults": [], "hash": "",
        "players": [
            {"player": seat["userid"], "name": seat["username"], "bot": "none"}
            for seat in frame["players"]
        ],
    }  # fmt: skip
    for number in range(ROUNDS):
        after = strolled(frame, rng) | {"round": number + 1}
        document["turns"].append({"actions": {}, "frame": difference(frame, after)})
        frame = after
    return document


def strolled(frame: Any, rng: Random) -> dict[str, Any]:
    """Return a frame in which half of the creatures have gone a step to the east or north."""
    size = {"x": frame["W"], "y": frame["H"]}
    creatures = [
        creature | {axis: (creature[axis] + 1) % size[axis]}
        if (axis := rng.choice(("x", "y", "", "")))
        else creature
        for creature in frame["creatures"]
    ]
    return dict(frame) | {"creatures": creatures}
