"""Make contact sheets of a hub's pages: `python hub/docs/make_hub_sheets.py FOLDER [PAGE...]`.

They are for visual review. Hubs with none, one, 30 and 500 of everything are written to databases,
without playing a match. A sheet shows a page of all four next to each other: one sheet for each
width and color scheme. Whatever is wider than its screen is printed.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from sqlalchemy import insert, select

from cw_hub.store.database import Session

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from cw.server.wsgi import listen, serving  # noqa: E402
from cw_hub.accounts import administration  # noqa: E402
from cw_hub.accounts import service as accounts_service  # noqa: E402
from cw_hub.bots import service as bots_service  # noqa: E402
from cw_hub.operation.queue import CeleryQueue  # noqa: E402
from cw_hub.operation.resources import Resources, opened  # noqa: E402
from cw_hub.operation.settings import HubSettings  # noqa: E402
from cw_hub.site.application import create_hub  # noqa: E402
from cw_hub.site.processes import begin_site  # noqa: E402
from cw_hub.store.models import Competition, Event  # noqa: E402
from docs.make_sheets import ARGUMENTS, GAP  # noqa: E402
from hub.bench import daily_history, ladder_history, rated_history  # noqa: E402
from hub.bench.hub_server import cookie_of  # noqa: E402

ENTRIES: Final = (0, 1, 30, 500)
OWNER: Final = "ada"
"""Who looks at the pages, an admin with a bot of each game for each ten entries."""

OWN_GAMES: Final = ("hexagon", "paint", "circuit-wars")
DAYS: Final = 30
"""At most so many daily games."""

Scheme = Literal["light", "dark"]

SCREENS: Final[Mapping[str, tuple[int, Scheme]]] = {
    "wide-light": (1280, "light"),
    "wide-dark": (1280, "dark"),
    "phone-light": (390, "light"),
    "phone-dark": (390, "dark"),
}
TALLEST: Final = 1700
"""Pixels of a page that are shown."""

PAGES: Final[Mapping[str, str]] = {
    "home": "/",
    "games": "/games/",
    "game": "/games/code-battle/",
    "leaderboard": "/leaderboard",
    "matches": "/matches",
    "own-matches": "/matches?of=mine",
    "bots": "/bots",
    "new-bot": "/bots/new",
    "bot": "/bot/bot-0",
    "own-bot": "/bot/hexagon-0",
    "ranking": "/ranking",
    "profile": f"/user/{OWNER}",
    "player": "/user/player1",
    "tournaments": "/t/",
    "tournament": "/t/many/",
    "ladder": "/t/many/main/",
    "team": "/t/many/main/team-1",
    "events": "/t/many/events",
    "screen": "/t/many/main/?screen=1",
    "host": "/t/many/host",
    "host-people": "/t/many/host/people",
    "host-teams": "/t/many/host/teams",
    "host-events": "/t/many/host/events",
    "host-rounds": "/t/many/host/rounds",
    "host-log": "/t/many/host/log",
    "cups": "/cup/",
    "admin": "/admin",
    "admin-people": "/admin/people",
    "admin-bots": "/admin/bots",
    "admin-competitions": "/admin/competitions",
    "admin-matches": "/admin/matches",
    "admin-mails": "/admin/mails",
    "admin-log": "/admin/log",
    "choice-of-format": "/competitions/new",
    "new-competition": "/competitions/new?format=rated&game=paint",
    "competition": "/competitions/rated/code-battle",
    "settings": "/settings",
    "documents": "/docs/",
}


@contextmanager
def hub(entries: int) -> Iterator[tuple[str, str]]:
    """Serve a hub with so many of everything; gives its address, and the cookie of its owner."""
    with TemporaryDirectory() as folder:
        settings = HubSettings(data=Path(folder))
        with opened(settings, CeleryQueue(settings)) as resources:
            ticket = fill(resources, entries)
            app = create_hub(resources)
            with serving(app, listen("127.0.0.1", 0)) as address:
                yield address, cookie_of(app, ticket)


def fill(resources: Resources, entries: int) -> str:
    """Write so many of everything; return a session of the owner."""
    begin_site(resources)
    with resources.database.writing() as session:
        email = f"{OWNER}@example.org"
        owner, ticket = accounts_service.register(session, OWNER, email, "no hash")
        administration.set_role(session, OWNER, "admin")
    with resources.database.writing() as session:
        if entries:
            write_bots(session, owner, entries)
            daily_history.write(session, entries, min(entries, DAYS))
            ladder_history.write(session, entries)
            write_tournaments(session, entries - 1)
    return ticket


def write_bots(session: Session, owner: int, entries: int) -> None:
    """Write rated bots and their matches, and those of the owner."""
    # Rated matches are between others.
    if entries > 1:
        rated_history.write(session, entries, 10 * entries)
    for game in OWN_GAMES:
        for number in range(-(-entries // 10)):
            bots_service.add_builtin(session, owner, game, f"{game}-{number}", "random")


def write_tournaments(session: Session, number: int) -> None:
    """Write tournaments of which nothing but the start is known."""
    now = session.now()
    if not number:
        return
    session.execute(
        insert(Competition),
        [
            {
                "slug": f"t{one}",
                "game": "hexagon",
                "format": "tournament",
                "title": f"Tournament {one}",
                "seed": one,
                "state": "running",
                "settings": {},
                "created_at": now,
            }
            for one in range(number)
        ],
    )
    ids = select(Competition.id).where(Competition.title.like("Tournament %"))
    session.execute(
        insert(Event),
        [
            {
                "competition_id": competition,
                "at": now,
                "applied_at": now,
                "kind": "start",
                "title": "Start",
                "text": "",
            }
            for competition in session.scalars(ids)
        ],
    )


def shot(context: BrowserContext, address: str, width: int) -> Image.Image:
    """Return the upper part of a page; print its address if it is wider than the screen."""
    page = context.new_page()
    page.goto(address)
    page.wait_for_load_state("load")
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        sys.stdout.write(f"wider than {width} pixels: {address}\n")
    whole = Image.open(BytesIO(page.screenshot(full_page=True))).convert("RGB")
    page.close()
    return whole.crop((0, 0, width, min(whole.height, TALLEST)))


def shots(browser: Browser, pages: Sequence[str]) -> Iterator[tuple[str, Image.Image]]:
    """Return each page of each hub on each screen, with the name of the sheet it belongs to."""
    for entries in ENTRIES:
        with hub(entries) as (address, cookie):
            for screen, (width, scheme) in SCREENS.items():
                context = browser.new_context(
                    viewport={"width": width, "height": 800},
                    color_scheme=scheme,
                    reduced_motion="reduce",
                )
                context.add_cookies([{"name": "cw", "value": cookie, "url": address}])
                for name in pages:
                    yield f"{name}-{screen}", shot(context, f"{address}{PAGES[name]}", width)
                context.close()


def sheet(pictures: Sequence[Image.Image]) -> Image.Image:
    """Return pictures of one width beside each other, from their upper edges."""
    width, height = pictures[0].width, max(picture.height for picture in pictures)
    image = Image.new("RGB", (len(pictures) * (width + GAP) - GAP, height), "magenta")
    for number, picture in enumerate(pictures):
        image.paste(picture, (number * (width + GAP), 0))
    return image


def main() -> None:
    """Make the sheets of the pages that are named, or of all."""
    path = os.environ.get("CW_CHROMIUM") or shutil.which("chromium")
    if path is None or len(sys.argv) < 2:
        sys.exit("usage: make_hub_sheets.py FOLDER [PAGE...], with chromium or CW_CHROMIUM")
    target, pages = Path(sys.argv[1]), sys.argv[2:] or list(PAGES)
    target.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, list[Image.Image]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        for name, picture in shots(browser, pages):
            pictures.setdefault(name, []).append(picture)
        browser.close()
    for name, each in pictures.items():
        sheet(each).save(target / f"{name}.png")


if __name__ == "__main__":
    main()
