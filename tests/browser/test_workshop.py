"""A bot is written in Chromium: from an empty folder to one that beats random."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cw.server.wsgi import address_of, listen, serving
from cw.web.workshop_routes import Gate, create_workshop
from cw.workshop.project import open_project
from tests.browser.axe import Scheme, on_each_screen, show_on
from tests.browser.conftest import Watcher, each_screen
from tests.browser.patient_workshop import be_patient
from tests.browser.viewer.viewing import box
from tests.effort import first_is_fast
from tests.web.workshop.test_positions import replay_in

ROOT = Path(__file__).resolve().parents[2]

BETTER: dict[str, tuple[str, str]] = {
    "paint": (
        "return random.choice(ACTIONS)",
        "row, col = state.position(); return next((('walk', d) for d in [(0, 1), (1, 0), (0, -1),"
        " (-1, 0), (1, 1), (-1, -1)] if state.is_free(row + d[0], col + d[1]) and"
        " state.colors[row + d[0]][col + d[1]] != state.player_id), random.choice(ACTIONS))",
    ),
    "hexagon": (
        "return random.choice(board.legal_moves(color))",
        "return max(board.legal_moves(color), key=lambda move: (after := board.copy(),"
        " after.play(color, move), sum(row.count(color) for row in after.cells))[2])",
    ),
    "circuit-wars": (
        "return random.choice(board.free_segments())",
        "return max(board.free_segments(), key=lambda at: sum(board.has_border(at[0], at[1], side)"
        " for side in ('top', 'right', 'bottom', 'left')) % 3 * random.random())",
    ),
    "code-battle": (
        'return [(row, col, random.choice("NESW")) for row, col in movers]',
        'return [(row, col, min(random.sample("NESW", 3), key=lambda way: min([match.distance2('
        'match.step((row, col), way), (e["row"], e["col"])) for e in view.energy +'
        ' [c for c in view.cores if c["owner"]]] or [0]))) for row, col in movers]',
    ),
    "end-of-codes": (
        "intents = (self.act(game, creature) for creature in game.mine())",
        "intents = [self.act(game, one) or self.act(game, one) for one in game.mine()]",
    ),
}
"""By game the line of the kit that is changed first, and one that beats the weakest opponent."""

WEAKEST: dict[str, str] = {"end-of-codes": "idle"}
"""The opponent where that is not `random`."""


PLAYED = 600_000.0
"""Milliseconds until matches, or a check, are over on the slowest machine."""

MOST_RUNS = 5
"""Against a random bot a better one loses now and then."""


@dataclass
class Bench:
    """A workshop that is served."""

    address: str
    place: Path


Open = Callable[..., Bench]


@pytest.fixture
def opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patient_painters: None
) -> Iterator[Open]:
    """Serve workshops that end with the test."""
    be_patient(monkeypatch.setattr)
    with ExitStack() as stack:

        def open_one(game: str, replays: Path | None = None) -> Bench:
            listener = listen("127.0.0.1", 0)
            gate = Gate(address_of(listener).removeprefix("http://"))
            place = tmp_path / game
            app, desk = create_workshop(open_project(game, place), gate, replays)
            stack.callback(desk.close)
            stack.enter_context(serving(app, listener))
            return Bench(gate.address(f"/workshop/{game}/"), place)

        yield open_one


@pytest.fixture
def typed(tmp_path: Path) -> Iterator[Open]:
    """Start workshops as people do in a terminal, with a folder named from where they are."""
    with ExitStack() as stack:

        def type_one(game: str) -> Bench:
            command = [sys.executable, "-m", "tests.browser.patient_workshop"]
            command += ["workshop", game, "mybot", "--no-browser"]
            environment = os.environ | {"PYTHONPATH": str(ROOT)}
            process = stack.enter_context(
                subprocess.Popen(
                    command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
                )
            )
            stack.callback(process.send_signal, signal.SIGINT)
            assert process.stdout is not None
            return Bench(process.stdout.readline().split()[-1], tmp_path / "mybot")

        yield type_one


def type_over(page: Page, line: str, better: str) -> None:
    """Put a line in the place of another one, by the keyboard alone."""
    page.locator(".cm-line", has_text=line).first.click()
    page.keyboard.press("End")
    page.keyboard.press("Shift+Home")
    page.keyboard.insert_text(better)


def run(page: Page) -> str:
    """Run the bot by its key to the end of the match; return the result in words."""
    page.keyboard.press("Control+Enter")
    expect(page.locator("#run[aria-busy]")).to_have_count(0, timeout=PLAYED)
    return page.inner_text("#words")


@pytest.mark.parametrize("game", first_is_fast(BETTER))
def test_from_an_empty_folder_to_a_bot_that_beats_random(
    typed: Open, watcher: Watcher, game: str
) -> None:
    bench, page = typed(game), watcher.page
    line, better = BETTER[game]
    page.goto(bench.address)
    expect(page.locator(".cm-line", has_text=line)).to_be_visible()
    assert "token" not in page.url
    page.select_option("#opponent", WEAKEST.get(game, "random"))
    run(page)
    expect(page.locator("#viewer[data-state=ready]")).to_be_visible()

    type_over(page, line, "raise KeyError(7)")
    assert "mine" in run(page)
    expect(page.locator(".cm-mark-words").first).to_have_text("KeyError: 7")
    expect(page.locator("#run-marks button").first).to_contain_text("bot.py, line")
    assert on_each_screen(page) == []

    type_over(page, "raise KeyError(7)", better)
    assert any(run(page).startswith("mine won") for _ in range(MOST_RUNS))
    expect(page.locator(".cm-mark-words")).to_have_count(0)
    assert better in (bench.place / "bot.py").read_text()

    page.click("#tab-question")
    expect(page.locator("#asked h2")).to_contain_text("Turn")
    page.click("#first")
    page.click("#forward")
    expect(page.locator("#asked h2")).to_have_text("Turn 1")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".today")).to_contain_text(re.compile("Now it (answers|gives)"))
    assert on_each_screen(page) == []

    page.click("#tab-check")
    page.click("#check-start")
    expect(page.locator("#check-words")).to_have_text("All fine.", timeout=PLAYED)


@each_screen
def test_a_mistake_is_read_at_once_where_it_is(
    opened: Open, watcher: Watcher, scheme: Scheme, width: int
) -> None:
    bench, page = opened("paint"), watcher.page
    line, _ = BETTER["paint"]
    show_on(page, scheme, width)
    page.goto(bench.address)
    expect(page.locator(".cm-line", has_text=line)).to_be_visible()
    words = "a mistake of many words, which go on and on, so that they cannot stand beside it"
    type_over(page, line, f"raise KeyError({words!r})")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("# the end\n" * 90)
    run(page)
    cause = page.locator("#cause")
    for told in (cause, page.locator(".cm-mark-words")):
        expect(told).to_contain_text(f"KeyError: '{words}'")
        expect(told).to_be_in_viewport(ratio=1)
    mark = box(page.locator(".cm-mark-words"))
    editor = box(page.locator("#editor"))
    assert editor["x"] < mark["x"]
    assert mark["x"] + mark["width"] <= editor["x"] + editor["width"]
    expect(cause).to_contain_text("bot.py, line")
    assert on_each_screen(page) == []

    # Elsewhere by now: the cause leads back.
    show_on(page, scheme, width)
    page.get_by_role("tab", name="Check").click()
    cause.get_by_role("button").click()
    expect(page.locator(".cm-mark-words")).to_be_in_viewport(ratio=1)

    # What names no line says in which turn it was; nothing of the run before stays.
    page.get_by_role("tab", name="Check").click()
    (bench.place / "bot.py").write_text("import os\n\nos._exit(3)\n")
    expect(page.locator(".cm-line").first).to_have_text("import os")
    run(page)
    expect(cause).to_contain_text("exit code 3")
    expect(cause).to_be_in_viewport(ratio=1)
    cause.get_by_role("button").click()
    expect(page.locator("#part-question")).to_be_visible()


def test_a_bot_is_tried_in_a_position_and_the_last_run_stays(
    opened: Open, watcher: Watcher, tmp_path: Path
) -> None:
    bench, page = opened("paint", replay_in(tmp_path / "replays", "paint")), watcher.page
    page.goto(bench.address)
    page.get_by_role("link", name="a replay", exact=True).click()
    page.locator("a.sentence").first.click()
    expect(page.locator("#viewer[data-state=ready]")).to_be_visible()
    page.locator("#scrubber").fill("7")
    page.get_by_role("link", name="Try my bot from here").click()
    expect(page.locator("#from-turn")).to_have_value("7")
    expect(page.locator("#turn")).to_have_text("7")
    expect(page.locator("#seat option").first).to_contain_text("1 (")
    page.click("#forward")
    expect(page.locator("#from-turn")).to_have_value("8")
    assert on_each_screen(page) == []

    page.select_option("#seat", "2")
    run(page)
    expect(page.locator("#turns")).to_have_text("32")
    page.click("#show-replay")
    expect(page.locator("#turn")).to_have_text("8")
    page.get_by_label("From turn", exact=True).uncheck()
    words = run(page)
    expect(page.locator("#turns")).to_have_text("100")

    # A page that is loaded again shows the last run.
    page.goto(bench.address)
    expect(page.locator("#words")).to_have_text(words)
    expect(page.locator("#turns")).to_have_text("100")
    expect(page.locator("#stop")).to_be_disabled()
    page.click("#tab-question")
    expect(page.locator("#asked")).to_contain_text("It was asked")


def test_two_editors_never_overwrite_each_other(opened: Open, watcher: Watcher) -> None:
    bench, page = opened("paint"), watcher.page
    file = bench.place / "bot.py"
    page.goto(bench.address)
    expect(page.locator(".cm-line").first).to_be_visible()
    file.write_text("theirs = 1\n")
    expect(page.locator(".cm-line").first).to_have_text("theirs = 1")

    page.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("mine = 1\n")
    expect(page.locator("#saved")).to_have_text("Saved")
    assert file.read_text() == "mine = 1\ntheirs = 1\n"

    # The browser complains of an answer that is not a success.
    watcher.server_leaves = True
    page.route("**/files", lambda route: route.abort())
    file.write_text("theirs = 2\n")
    page.keyboard.insert_text("mine = 2\n")
    expect(page.locator("#conflict")).to_be_visible()
    assert file.read_text() == "theirs = 2\n"
    # Unsaved text is left, so nothing is said to be saved.
    expect(page.locator("#saved")).to_have_text(
        "The workshop does not answer: is it still running?"
    )
    page.unroute("**/files")
    expect(page.locator("#saved")).to_have_text("")
    page.click("#keep-mine")
    expect(page.locator("#saved")).to_have_text("Saved")
    assert file.read_text() == "mine = 1\nmine = 2\ntheirs = 1\n"


@pytest.mark.thorough
def test_a_phone_has_each_part_as_a_tab(opened: Open, watcher: Watcher) -> None:
    bench, page = opened("paint"), watcher.page
    show_on(page, "dark", 390)
    page.goto(bench.address)
    expect(page.locator(".cm-line").first).to_be_visible()
    page.click("#run")
    expect(page.locator("#viewer[data-state=ready]")).to_be_visible()
    for part in ("code", "picture", "start", "output", "question", "series", "check"):
        page.click(f"#tab-{part}")
        expect(page.locator(f"#part-{part}")).to_be_visible()
        assert on_each_screen(page) == []
        show_on(page, "dark", 390)


@pytest.mark.thorough
def test_a_series_and_a_check_lead_on(opened: Open, watcher: Watcher) -> None:
    bench, page = opened("paint"), watcher.page
    page.goto(bench.address)
    expect(page.locator(".cm-line").first).to_be_visible()
    page.click("#tab-series")
    page.fill("#series-number", "20")
    page.get_by_role("button", name="Play against").click()
    expect(page.locator(".square")).to_have_count(20, timeout=PLAYED)
    expect(page.locator("#series-words")).to_contain_text("95 % interval")
    page.locator(".square").nth(2).click()
    expect(page.locator("#words")).to_contain_text("Match 3 of the series")
    expect(page.locator("#viewer[data-state=ready]")).to_be_visible()
    page.click("#tab-check")
    page.click("#check-start")
    expect(page.locator("#check-words")).to_have_text("All fine.", timeout=PLAYED)
    assert on_each_screen(page) == []
