"""Make the images in docs/images and static/games: `python docs/make_screenshots.py`."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from cw.arena.bots import BotSpec, read_bots  # noqa: E402
from cw.game import Board  # noqa: E402
from cw.matches.run import run_match  # noqa: E402
from cw.matches.spec import MatchSpec  # noqa: E402
from cw.pictures.exports import animation  # noqa: E402
from cw.replays import document as replays_document  # noqa: E402
from cw.server.wsgi import address_of, listen, serving  # noqa: E402
from cw.web import create_app  # noqa: E402
from cw.web.live_matches import LiveMatches  # noqa: E402
from cw.web.replay_export import drawn  # noqa: E402
from cw.web.settings import SiteSettings  # noqa: E402
from cw.web.workshop_routes import Gate, create_workshop  # noqa: E402
from cw.workshop.project import open_project  # noqa: E402

IMAGES: Final = ROOT / "docs" / "images"
STILLS: Final = ROOT / "static" / "games"
TEAMS: Final = ("ampere", "volta")
PORT: Final = 5000
"""The address with which the page tells clients to join is part of the pictures."""

WIDE: Final = (1280, 800)
PHONE: Final = (360, 740)
STILL: Final = (640, 400)
"""Pixels of the picture of a game on its page."""

COLOURS: Final = 160
"""Colours of such a picture: few, so that its file is small."""

MANY_HUES: Final = Image.Quantize.MAXCOVERAGE
"""Colours are chosen so that those of small parts are among them."""

ARGUMENTS: Final = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]


@dataclass(frozen=True)
class Picture:
    """One picture: how many moves have been made, by how many teams, and on what screen."""

    name: str
    moves: int
    teams: int = 2
    scheme: str = "light"
    screen: tuple[int, int] = WIDE
    coordinates: bool = False


PICTURES: Final = (
    Picture("monitor-waiting", 0, teams=1),
    Picture("monitor-playing", 69, coordinates=True),
    Picture("monitor-playing-dark", 70, scheme="dark"),
    Picture("monitor-ended", 112),
    Picture("monitor-phone", 69, screen=PHONE),
)


@dataclass(frozen=True)
class Match:
    """A match whose replay is shown: bots as name=strategy, and which moment of it."""

    picture: str
    game: str
    bots: tuple[str, ...]
    after: str
    seed: int = 4
    options: tuple[tuple[str, Any], ...] = ()
    scheme: str = "light"
    screen: tuple[int, int] = WIDE


MATCHES: Final = (
    Match(
        "viewer-code-battle",
        "code-battle",
        ("ada=gatherer", "bob=hunter", "cleo=swarm", "dan=rusher"),
        "#turn=353",
    ),
    Match("viewer-circuit-wars", "circuit-wars", ("ampere=search", "volta=safe"), "#turn=70"),
    Match(
        "viewer-paint",
        "paint",
        ("ada=strong", "bob=greedy", "cleo=walker", "dan=random"),
        "#turn=120",
        options=(("board", "large"),),
        scheme="dark",
    ),
    Match(
        "viewer-end-of-codes",
        "end-of-codes",
        ("ada=hunter", "bob=sample", "cleo=sample"),
        "#turn=30",
        options=(("M", 60), ("MAX_HP", 6), ("max_rounds", 200)),
    ),
    Match("viewer-phone", "hexagon", ("ada=expert", "bob=greedy"), "#turn=37", screen=PHONE),
)

# Their boards alone are kept, dark ones, which look well on a light page too.
BOARDS: Final = (
    Match("circuit-wars", "circuit-wars", ("a=search", "b=safe"), "#turn=64", scheme="dark"),
    Match(
        "code-battle",
        "code-battle",
        ("a=gatherer", "b=hunter", "c=swarm", "d=rusher"),
        "#turn=160",
        seed=7,
        scheme="dark",
    ),
    Match(
        "end-of-codes",
        "end-of-codes",
        ("a=hunter", "b=sample", "c=sample"),
        "#turn=30",
        options=(("M", 40), ("MAX_HP", 6), ("max_rounds", 200), ("W", 32), ("H", 20)),
        scheme="dark",
    ),
    Match("hexagon", "hexagon", ("a=expert", "b=greedy"), "#turn=37", scheme="dark"),
    Match(
        "paint",
        "paint",
        ("a=greedy", "b=greedy", "c=walker", "d=greedy"),
        "#turn=40",
        options=(("width", 16), ("height", 10)),
        scheme="dark",
    ),
)


ANIMATED: Final = MATCHES[1]


def moves_of_a_game() -> Iterator[str]:
    """Return the moves of one game: each takes what it can, and gives away as little as it can."""
    rng, board = Random(5), Board()
    player = 1
    while free := board.free_borders():
        rng.shuffle(free)
        x, y, border = max(free, key=lambda move: worth(board, move, player))
        board.add_border(x, y, border, player)
        yield f"{x},{y},{border}"
        player = 3 - player


def worth(board: Board, move: tuple[int, int, str], player: int) -> int:
    """Return the squares that a move wins, less the most that the answer to it can win."""
    after = board.copy()
    after.add_border(*move, player)
    won = sum(after.get_colored()) - sum(board.get_colored())
    return won - max((gain(after, answer) for answer in after.free_borders()), default=0)


def gain(board: Board, move: tuple[int, int, str]) -> int:
    """Return the squares that a move wins."""
    after = board.copy()
    after.add_border(*move, 1)
    return sum(after.get_colored()) - sum(board.get_colored())


def take(browser: Browser, picture: Picture, moves: Sequence[str]) -> None:
    """Play to the position of a picture on a server of its own, and keep what the page shows."""
    now = [0.0]
    app = create_app(SiteSettings(timeout=3), lambda: now[0])
    client = app.test_client()
    for team in TEAMS[: picture.teams]:
        client.get(f"/reg/{team}")
    for index, move in enumerate(moves[: picture.moves]):
        client.get(f"/move/{TEAMS[index % 2]}/{move}")
    now[0] += 0.8
    with serving(app, listen("127.0.0.1", PORT)) as address:
        width, height = picture.screen
        options: dict[str, Any] = {"color_scheme": picture.scheme, "reduced_motion": "reduce"}
        page = browser.new_page(viewport={"width": width, "height": height}, **options)
        page.goto(address)
        page.wait_for_selector("#match:not([data-phase=loading])")
        page.get_by_role("switch", name="Coordinates").set_checked(picture.coordinates)
        page.mouse.click(2, 2)
        page.screenshot(path=IMAGES / f"{picture.name}.png")
        page.close()


def record(match: Match) -> replays_document.Document:
    """Play a match and give its replay."""
    arguments = (name.replace("=", "=builtin:") for name in match.bots)
    bots = tuple(read_bots(list(arguments), []).bots)
    spec = MatchSpec(match.picture, match.game, bots, match.seed, dict(match.options))
    # Playwright has an event loop in this thread.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, run_match(spec)).result().replay


@contextmanager
def shelf_of(matches: Sequence[Match]) -> Iterator[str]:
    """Play matches and serve their replays."""
    with TemporaryDirectory() as folder:
        for match in matches:
            file = Path(folder) / f"{match.picture}.json"
            file.write_bytes(replays_document.encode(record(match), packed=False))
        app = create_app(SiteSettings(replays=Path(folder)))
        with serving(app, listen("127.0.0.1", 0)) as address:
            yield f"{address}/replays/"


def take_replay(browser: Browser, replay_store: str, match: Match) -> None:
    """Keep what the viewer shows of a moment."""
    page = watched(browser, replay_store, match)
    page.screenshot(path=IMAGES / f"{match.picture}.png")
    page.close()


def take_board(browser: Browser, replay_store: str, match: Match) -> None:
    """Keep the middle of the board of a moment, in few colours."""
    page = watched(browser, replay_store, match)
    page.mouse.move(2, 2)
    page.evaluate("document.getElementById('minimap').hidden = true")
    shot = page.locator("#stage").screenshot()
    with Image.open(BytesIO(shot)) as picture:
        width, height = picture.size
        crop_width = min(width, height * STILL[0] // STILL[1]) - 4
        left, top = (width - crop_width) // 2, (height - crop_width * STILL[1] // STILL[0]) // 2
        cut = picture.convert("RGB").crop((left, top, left + crop_width, height - top))
        small = cut.resize(STILL, Image.Resampling.LANCZOS).quantize(COLOURS, MANY_HUES)
        small.save(STILLS / f"{match.picture}.png", optimize=True)
    page.close()


def take_hand(browser: Browser) -> None:
    """Keep what a person sees who plays Hexagon."""
    app = create_app(SiteSettings())
    matches: LiveMatches = app.extensions["matches"]
    bots = BotSpec("you", "human", ""), BotSpec("greedy", "builtin", "greedy")
    rng = Random(4)
    width, height = WIDE
    with serving(app, listen("127.0.0.1", 0)) as address:
        match = matches.begin(MatchSpec("page", "hexagon", bots, 11, {"size": 5}))
        page = browser.new_page(
            viewport={"width": width, "height": height}, reduced_motion="reduce"
        )
        page.goto(f"{address}/matches/{match.name}?hand={match.key}")
        for _ in range(6):
            page.wait_for_selector("#viewer[data-yours=true]")
            turn = int(page.locator("#turns").inner_text())
            moves = page.locator("#hand-move option").count()
            page.locator("#hand-move").select_option(index=rng.randrange(moves))
            page.get_by_role("button", name="Play move").click()
            page.wait_for_function(
                "(turn) => Number(document.getElementById('turns').textContent) > turn", arg=turn
            )
        page.wait_for_selector("#viewer[data-yours=true]")
        page.screenshot(path=IMAGES / "play-hexagon.png")
        page.close()
    matches.close()


BROKEN: Final = """\
        choice = random.choice(ACTIONS)
        print("I am at", state.position(), "and take", choice, file=sys.stderr)
        if state.turns_left < 40:
            raise KeyError(choice)
        return choice
"""
"""What a bot of Paint does on the picture of the workshop."""


def take_workshop(browser: Browser) -> None:
    """Keep a workshop in which a line has failed, also on a phone, and a position of a replay."""
    with TemporaryDirectory() as folder:
        place, played = Path(folder, "mybot"), Path(folder, "final.json")
        final = Match("final", "paint", ("ada=greedy", "bob=walker"), "")
        played.write_bytes(replays_document.encode(record(final), packed=False))
        listener = listen("127.0.0.1", 0)
        gate = Gate(address_of(listener).removeprefix("http://"))
        app, desk = create_workshop(open_project("paint", place), gate, played)
        kit = (place / "bot.py").read_text()
        broken = kit.replace("        return random.choice(ACTIONS)\n", BROKEN)
        (place / "bot.py").write_text(broken.replace("import random", "import random\nimport sys"))
        with serving(app, listener):
            page = browser.new_page(
                viewport={"width": WIDE[0], "height": WIDE[1]}, reduced_motion="reduce"
            )
            page.goto(gate.address("/workshop/paint/"))
            page.wait_for_selector(".cm-line")
            page.keyboard.press("Control+Enter")
            page.wait_for_selector("#run-marks button")
            page.locator("#run-marks button").first.click()
            page.locator(".block.shown").scroll_into_view_if_needed()
            page.screenshot(path=IMAGES / "workshop.png")
            page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
            page.emulate_media(color_scheme="dark")
            page.locator(".cm-mark-words").first.wait_for()
            page.screenshot(path=IMAGES / "workshop-phone.png")
            page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
            page.emulate_media(color_scheme="light")
            page.goto(f"http://{gate.host}/workshop/paint/?replay=final&from=30")
            page.wait_for_selector("#viewer[data-state=ready]")
            page.wait_for_function("document.getElementById('turn').textContent === '30'")
            page.screenshot(path=IMAGES / "workshop-position.png")
            page.close()
        desk.close()


def watched(browser: Browser, replay_store: str, match: Match) -> Page:
    """Open the viewer at a moment of a match."""
    width, height = match.screen
    options: dict[str, Any] = {"color_scheme": match.scheme, "reduced_motion": "reduce"}
    page = browser.new_page(viewport={"width": width, "height": height}, **options)
    page.goto(f"{replay_store}{match.picture}{match.after}")
    page.wait_for_selector("#viewer[data-surveyed=true]")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done(true)))")
    return page


def animate(match: Match) -> None:
    """Keep a whole match as an animation."""
    document = record(match)
    gif = animation(drawn(document), (0, -1), 8)
    (IMAGES / f"animation-{match.game}.gif").write_bytes(gif.data)


def main() -> None:
    """Make all pictures again."""
    path = os.environ.get("CW_CHROMIUM") or shutil.which("chromium")
    if path is None:
        sys.exit("there is no chromium: install it or set CW_CHROMIUM to its path")
    for folder in (IMAGES, STILLS):
        folder.mkdir(parents=True, exist_ok=True)
    animate(ANIMATED)
    moves = list(moves_of_a_game())
    with shelf_of([*MATCHES, *BOARDS]) as replay_store, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        for picture in PICTURES:
            take(browser, picture, moves)
        for match in MATCHES:
            take_replay(browser, replay_store, match)
        for match in BOARDS:
            take_board(browser, replay_store, match)
        take_hand(browser)
        take_workshop(browser)
        browser.close()


if __name__ == "__main__":
    main()
