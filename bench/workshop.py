"""Benchmark of the workshop in Chromium: Run to the first rendering, key to disk, and Stop."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any, Final

from bench.chromium import chromium
from bench.rows import Effort, Goal, NotMeasured, Row
from cw.server.wsgi import address_of, listen, serving
from cw.web.workshop_routes import Gate, create_workshop
from cw.workshop.project import open_project

GAME: Final = "paint"
MOST_REPEATS: Final = 7
LOOK: Final = 0.01
"""Seconds between two looks at the disk."""

PATIENCE: Final = 30.0
RESUMED: Final = """() => !document.getElementById("workshop").dataset.hasRun
    || document.getElementById("viewer").dataset.state === "ready"
"""
"""Whether the last run is shown again, if there is one."""

STUBBORN: Final = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(0.1)\n"
"""What a bot does that takes its time, and does not end when it is told to."""


def rows(effort: Effort) -> list[Row]:
    """Measure a workshop in milliseconds; without Chromium no figures."""
    path = chromium()
    repeats = min(effort.repeats, MOST_REPEATS)
    picture, disk, stop = (None, None, None) if path is None else measured(path, repeats)
    beside = "a start of Python"
    theirs = None if path is None else median(python_start() for _ in range(repeats))
    return [
        row("Run to the first picture", picture, beside, theirs, 1500),
        row("last key to the disk", disk, beside, theirs, 2000),
        row("Stop of a bot that ignores SIGTERM", stop, beside, theirs, 1000),
    ]


def row(what: str, ours: float | None, beside: str, theirs: float | None, most: float) -> Row:
    """Return a row, in milliseconds."""
    return Row("workshop", what, ours, "ms", beside, theirs, Goal("<=", most, of="ours"))


def python_start() -> float:
    """Return the milliseconds in which Python starts and ends."""
    start = perf_counter()
    subprocess.run([sys.executable, "-c", ""], check=True)
    return (perf_counter() - start) * 1000


def measured(path: str, repeats: int) -> tuple[float, float, float]:
    """Return the medians of all three."""
    with opened(path) as (page, file):
        pictures = [first_picture(page) for _ in range(repeats)]
        keys = [key_to_disk(page, file, number) for number in range(repeats)]
        stops = [stopped(page, file) for _ in range(repeats)]
    return median(pictures), median(keys), median(stops)


@contextmanager
def opened(path: str) -> Iterator[tuple[Any, Path]]:
    """Serve a workshop and open its page; gives it and the file of the bot."""
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only this part needs it
    except ImportError:
        raise NotMeasured("the browser is driven by Playwright: pip install playwright") from None
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        listener = listen("127.0.0.1", 0)
        gate = Gate(address_of(listener).removeprefix("http://"))
        app, desk = create_workshop(open_project(GAME, Path(folder, "bot")), gate)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        with serving(app, listener):
            page = browser.new_page()
            page.goto(gate.address(f"/workshop/{GAME}/"))
            page.wait_for_selector(".cm-line")
            yield page, Path(folder, "bot", "bot.py")
        browser.close()
        desk.close()


def first_picture(page: Any) -> float:
    """Return the time from Ctrl+Enter on a fresh page to the picture of the match."""
    page.reload()
    page.wait_for_selector(".cm-line")
    duration = run_to_picture(page)
    page.wait_for_selector("#run:not([aria-busy])")
    return duration * 1000


def run_to_picture(page: Any) -> float:
    """Run the bot by its key; return the seconds until its match is drawn, not an earlier one."""
    page.wait_for_function(RESUMED)
    before = page.get_attribute("#viewer", "data-shown") or ""
    start = perf_counter()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(f"#viewer[data-state=ready][data-shown]:not([data-shown='{before}'])")
    return perf_counter() - start


def key_to_disk(page: Any, file: Path, number: int) -> float:
    """Return the time from the last key to the file on the disk."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type(f"# number {number}\n")
    start = perf_counter()
    until = start + PATIENCE
    while f"# number {number}\n" not in file.read_text() and perf_counter() < until:
        sleep(LOOK)
    return (perf_counter() - start) * 1000


def stopped(page: Any, file: Path) -> float:
    """Return the time until a run that does not end by itself is over on the page."""
    text = file.read_text()
    loop = "".join(f"        {line}\n" for line in STUBBORN.splitlines())
    if STUBBORN.splitlines()[0] not in text:
        file.write_text(text.replace("        return random", f"{loop}        return random"))
    page.reload()
    page.wait_for_selector(".cm-line")
    run_to_picture(page)
    start = perf_counter()
    page.click("#stop")
    page.wait_for_selector("#run:not([aria-busy])")
    return (perf_counter() - start) * 1000
