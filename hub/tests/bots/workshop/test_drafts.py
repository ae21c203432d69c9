"""The workshop of a hub: drafts are kept, none is overwritten in silence, versions come of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
import requests
from sqlalchemy import select

from cw.workshop.project import LARGEST_FILE
from cw_hub.bots.service import CHECK
from cw_hub.matches.jobs import Worker
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import jobs_of
from cw_hub.store.models import Bot, BotVersion
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site, Visitor, words_of
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [
    NEEDS_BUBBLEWRAP,
    ON_SQLITE,
]

PAGE = "/workshop/paint/"
JOBS = jobs_of(Worker("me", 1, MATCH_TYPES))


class Window:
    """A window in which a player has the workshop open."""

    def __init__(self, visitor: Visitor, page: str = PAGE) -> None:
        self.visitor, self.page = visitor, page
        self.token = visitor.token(page)

    def files(self) -> dict[str, Any]:
        listing = self.visitor.open(f"{self.page}files").json()["files"]
        return {file["name"]: file for file in listing}

    def save(self, name: str, text: str, base: str) -> requests.Response:
        return self.visitor.put(
            f"{self.visitor.address}{self.page}files/{name}",
            json={"text": text, "base": base},
            headers={"X-CSRFToken": self.token},
        )

    def post(self, path: str, document: Any) -> requests.Response:
        return self.visitor.post(
            f"{self.visitor.address}{self.page}{path}",
            json=document,
            headers={"X-CSRFToken": self.token, "Accept": "application/json"},
        )

    def save_version(self, name: str, note: str = "") -> requests.Response:
        return self.post("versions", {"name": name, "note": note})


def do_jobs(site: Site) -> None:
    """Do what waits in the queue, as a worker with programs does."""
    while site.queue.jobs:
        job, arguments, _ = site.queue.jobs.pop(0)
        JOBS[job](site.resources, *arguments)


def test_a_draft_is_kept_and_the_later_window_is_asked(site: Site) -> None:
    first = Window(site.player("Ann"))
    base = first.files()["bot.py"]["digest"]
    assert first.save("bot.py", "one = 1\n", base).status_code == 200
    later = first.save("bot.py", "two = 2\n", base)
    assert (later.status_code, later.json()["now"]["text"]) == (409, "one = 1\n")
    assert first.files()["bot.py"]["text"] == "one = 1\n"
    assert first.save("new.py", "", "").status_code == 200
    assert {"bot.py", "new.py", "README.md"} <= set(first.files())


def test_nobody_else_sees_a_draft(site: Site) -> None:
    ann, ben = Window(site.player("Ann")), Window(site.player("Ben"))
    base = ann.files()["bot.py"]["digest"]
    ann.save("bot.py", "secret = 1\n", base)
    assert "secret" not in str(ben.files())
    assert ben.save("bot.py", "mine = 1\n", base).status_code == 200
    assert ann.files()["bot.py"]["text"] == "secret = 1\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [(".hidden", ""), ("bot.py", "\0"), ("x.py", "x" * (LARGEST_FILE + 1))],
)
def test_what_is_no_file_of_a_draft_is_refused_and_changes_nothing(
    site: Site, name: str, text: str
) -> None:
    window = Window(site.player("Ann"))
    before = window.files()
    answer = window.save(name, text, before.get(name, {}).get("digest", ""))
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]
    assert window.files() == before


def test_a_draft_without_its_token_is_not_saved(site: Site) -> None:
    window = Window(site.player("Ann"))
    window.token = ""
    assert window.save("bot.py", "", window.files()["bot.py"]["digest"]).status_code == 400


@pytest.mark.thorough
def test_versions_are_saved_checked_and_played(site: Site) -> None:
    site.open_competition("paint")
    ann = Window(site.player("Ann"))
    site.queue.jobs.clear()
    state = ann.save_version("Painter", "first").json()["state"]
    assert ann.visitor.open(state).json() == {"state": "building", "failed": None}
    do_jobs(site)
    assert ann.visitor.open(state).json() == {"state": "ready", "failed": None}
    assert ann.save_version("painter", "<b>second</b>").json()["number"] == 2
    with site.resources.database.reading() as session:
        rows = session.execute(
            select(BotVersion.number, BotVersion.note, BotVersion.state, BotVersion.language)
        )
        assert [tuple(row) for row in rows] == [
            (1, "first", "ready", "python"),
            (2, "<b>second</b>", "building", "python"),
        ]
    played = ann.post("play", {"name": "Painter", "opponent": "walker"})
    assert played.status_code == 201, played.text
    again = ann.post("play", {"name": "Painter", "opponent": "walker"})
    assert (again.status_code, again.json()["playing"]) == (409, played.json()["match"])
    assert "Painter" in ann.visitor.open(played.json()["match"]).text
    ben = Window(site.player("Ben"))
    assert ben.visitor.open(state).status_code == 404
    assert ben.post("play", {"name": "Painter", "opponent": "walker"}).status_code == 404
    assert ben.visitor.fill(f"{PAGE}open", on=PAGE, bot="Painter", version="1").status_code == 404
    page = ann.visitor.open(PAGE)
    assert 'value="Painter"' in page.text
    assert "'nonce-" in page.headers["Content-Security-Policy"]


def test_a_version_that_fails_says_at_which_step(site: Site) -> None:
    site.open_competition("paint")
    ann = Window(site.player("Ann"))
    ann.save("bot.py", "raise SystemExit(1)\n", ann.files()["bot.py"]["digest"])
    site.queue.jobs.clear()
    state = ann.save_version("Painter").json()["state"]
    do_jobs(site)
    payload = ann.visitor.open(state).json()
    assert payload["state"] == "failed"
    assert set(payload["failed"]) >= {"step", "problem", "fix"}


def test_an_empty_draft_is_filled_from_a_version_and_another_one_is_left(site: Site) -> None:
    site.open_competition("paint")
    ann = Window(site.player("Ann"))
    form = {"csrf_token": ann.visitor.token("/bots/new"), "game": "paint", "name": "Painter"}
    upload = {"program": ("bot.py", b"print('mine')\n")}
    assert ann.visitor.send_form("/bots/new/program", form, files=upload).status_code == 303
    opened = ann.visitor.fill(f"{PAGE}open", on=PAGE, bot="Painter", version="1")
    assert opened.headers["Location"] == PAGE
    files = ann.files()
    assert list(files) == ["bot.py"]
    ann.save("bot.py", "typed = 1\n", files["bot.py"]["digest"])
    ann.visitor.fill(f"{PAGE}open", on=PAGE, bot="Painter", version="1")
    assert ann.files()["bot.py"]["text"] == "typed = 1\n"


def test_a_name_that_is_not_free_is_refused_with_words(site: Site) -> None:
    site.open_competition("paint")
    ann, ben = Window(site.player("Ann")), Window(site.player("Ben"))
    ann.save_version("Painter")
    refused = ben.save_version("Painter")
    assert refused.status_code == 422
    assert refused.json()["error"]


def test_the_one_bot_of_end_of_codes_is_a_program_once_it_is_written_here(site: Site) -> None:
    site.open_competition("end-of-codes")
    ann = site.player("Ann")
    assert "/workshop/end-of-codes/" in ann.open("/bots/new?kind=program").text
    own = "/bots/end-of-codes"
    ann.fill(own, endpoint="http://127.0.0.1:9", form="urlencoded")
    assert "Your bot is a web service" in words_of(ann.open(own))
    site.queue.jobs.clear()

    page = ann.open("/workshop/end-of-codes/")
    assert re.search('name="name" value="Ann" readonly', page.text)
    window = Window(ann, "/workshop/end-of-codes/")
    # Whatever name is sent: there is one bot, and it has a key already.
    for number, name in enumerate(("Ann", "Other"), 1):
        saved = window.save_version(name)
        assert saved.status_code == 201, saved.text
        assert saved.json()["number"] == number
        assert ann.open(saved.json()["state"]).json()["state"] == "building"
    assert saved.json()["bot"] == own
    assert "Your bot is a program" in words_of(ann.open(own))
    assert [job for job, *_ in site.queue.jobs] == [CHECK, CHECK]
    with site.resources.database.reading() as session:
        rows = session.execute(select(Bot.name, Bot.kind).where(Bot.game == "end-of-codes"))
        assert ("Ann", "program") in [tuple(row) for row in rows]


def test_the_first_bot_of_end_of_codes_may_be_written_here(site: Site) -> None:
    ben = site.player("Ben")
    assert Window(ben, "/workshop/end-of-codes/").save_version("Ben").status_code == 201
    page = ben.open("/bots/end-of-codes")
    assert "Your bot is a program" in words_of(page)
    assert re.search('id="api-key" value="[0-9a-f]{32}"', page.text)
