"""Make contact sheets of all viewers: `python docs/make_sheets.py FOLDER [GAME...]`.

They are for visual review. Each game has a match in which a bot fails halfway. A sheet shows its
start, its middle, the fault and the end: one sheet of the desktop screen for each color scheme, and
one of the phone with both.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from cw.arena.bots import read_bots  # noqa: E402
from cw.cli.play import play_match, write_replay  # noqa: E402
from cw.kits import new_bot  # noqa: E402
from cw.matches.spec import MatchSpec  # noqa: E402
from cw.replays.document import Document  # noqa: E402
from cw.server.wsgi import listen, serving  # noqa: E402
from cw.web import create_app  # noqa: E402
from cw.web.settings import SiteSettings  # noqa: E402

SCHEMES: Final = ("light", "dark")
SCREEN: Final = (1280, 800)
PHONE: Final = (390, 844)
ARGUMENTS: Final = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
GAP: Final = 12
"""Pixels between the pictures of a sheet."""


@dataclass(frozen=True)
class Scene:
    """A match of a bot that fails, made from the kit in Python, against built-in ones."""

    opponents: tuple[str, ...]
    call: int
    """The call in which the bot fails, and in all after it."""
    options: Mapping[str, Any]


SCENES: Final[Mapping[str, Scene]] = {
    "circuit-wars": Scene(("bob=builtin:greedy",), 20, {}),
    "code-battle": Scene(
        ("bob=builtin:hunter", "cleo=builtin:swarm", "dan=builtin:rusher"), 40, {"max_turns": 90}
    ),
    "end-of-codes": Scene(
        ("bob=builtin:hunter", "cleo=builtin:sample"), 8, {"M": 50, "max_rounds": 60}
    ),
    "hexagon": Scene(("bob=builtin:random",), 12, {}),
    "paint": Scene(("bob=builtin:greedy", "cleo=builtin:walker"), 50, {"turns": 90}),
}

FAILURE: Final = """\
        self.calls = getattr(self, "calls", 0) + 1
        print("call", self.calls, file=sys.stderr)
        if self.calls >= {call}:
            raise ValueError("the target of my best bot is gone: [12, 40] is not in a list of 31")
"""


def failing_bot(game: str, call: int, folder: Path) -> Path:
    """Return the kit in Python with a function that fails from a call on."""
    new_bot(game, "python", folder)
    file = folder / "bot.py"
    head, doc, body = file.read_text("utf-8").partition("def choose(")
    signature, quotes, rest = body.partition('"""\n')
    changed = signature + quotes + FAILURE.format(call=call) + rest
    file.write_text(head.replace("import random", "import random\nimport sys") + doc + changed)
    return file


def played(game: str, scene: Scene, folder: Path) -> Document:
    """Play a scene, keep its replay in a folder, and return it."""
    bot = failing_bot(game, scene.call, folder / f"bot-{game}")
    arguments = read_bots((f"ada={bot}", *scene.opponents))
    spec = MatchSpec("sheet", game, tuple(arguments.bots), 4, dict(scene.options))
    result = play_match(spec, lambda _: None, lambda *_: None, arguments.secrets)
    write_replay(result, folder / f"{game}.json.gz", None)
    return result.replay


def moments(replay: Document) -> tuple[int, ...]:
    """Return the turns that are shown: start, middle, first fault, end."""
    last = len(replay["turns"])
    fault = replay["faults"][0]["turn"] + 1
    return 0, min(fault - 1, last // 2), min(fault, last), last


@contextmanager
def pages(browser: Browser, address: str, size: tuple[int, int], scheme: str) -> Iterator[Page]:
    """Open a page of a size and color scheme."""
    options: dict[str, Any] = {"color_scheme": scheme, "reduced_motion": "reduce"}
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **options)
    page.goto(address)
    yield page
    page.close()


def shots(
    browser: Browser, address: str, turns: Sequence[int], size: tuple[int, int], scheme: str
) -> list[Image.Image]:
    """Return pictures of a replay in the given turns, as they come into view."""
    images = []
    with pages(browser, address, size, scheme) as page:
        page.wait_for_selector("#viewer[data-surveyed=true]")
        for turn in turns:
            page.evaluate("(turn) => { location.hash = `turn=${turn}`; }", turn)
            page.wait_for_function(
                "(turn) => document.getElementById('turn').textContent === String(turn)", arg=turn
            )
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done(true)))")
            images.append(Image.open(BytesIO(page.screenshot())).convert("RGB"))
    return images


def sheet(pictures: Sequence[Image.Image], columns: int) -> Image.Image:
    """Return pictures of one size side by side, in rows of so many."""
    width, height = pictures[0].size
    rows = -(-len(pictures) // columns)
    image = Image.new(
        "RGB", (columns * (width + GAP) - GAP, rows * (height + GAP) - GAP), "magenta"
    )
    for number, picture in enumerate(pictures):
        row, column = divmod(number, columns)
        image.paste(picture, (column * (width + GAP), row * (height + GAP)))
    return image


def make(browser: Browser, address: str, turns: Sequence[int], target: Path, game: str) -> None:
    """Write the sheets of a replay."""
    for scheme in SCHEMES:
        wide = shots(browser, address, turns, SCREEN, scheme)
        sheet(wide, 2).save(target / f"{game}-{scheme}.png")
    phones = [shot for scheme in SCHEMES for shot in shots(browser, address, turns, PHONE, scheme)]
    sheet(phones, len(turns)).save(target / f"{game}-phone.png")


def main() -> None:
    """Make the sheets of the games that are named, or of all."""
    path = os.environ.get("CW_CHROMIUM") or shutil.which("chromium")
    if path is None or len(sys.argv) < 2:
        sys.exit("usage: make_sheets.py FOLDER [GAME...], with chromium or CW_CHROMIUM")
    target, games = Path(sys.argv[1]), sys.argv[2:] or list(SCENES)
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        folder = Path(place)
        turns = {game: moments(played(game, SCENES[game], folder)) for game in games}
        take(path, folder, turns, target)


def take(path: str, folder: Path, turns: Mapping[str, Sequence[int]], target: Path) -> None:
    """Write the sheets of replays in a folder, in the browser at a path."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        app = create_app(SiteSettings(replays=folder, owner=True))
        with serving(app, listen("127.0.0.1", 0)) as address:
            for game, turn in turns.items():
                make(browser, f"{address}/replays/{game}", turn, target, game)
        browser.close()


if __name__ == "__main__":
    main()
