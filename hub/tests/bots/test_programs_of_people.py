"""Programs as bots of people: uploaded, checked, played, chosen by version, and read by nobody."""

from __future__ import annotations

import io
import json
import re
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pytest
import requests
from sqlalchemy import select

from cw import kits
from cw_hub.bots import checks, versions
from cw_hub.bots import service as bots_service
from cw_hub.bots.jobs import send_waiting
from cw_hub.bots.programs import NO_PROGRAMS
from cw_hub.bots.service import CHECK, BotView
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.rated import pairing
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import PLAY, of_programs, send_due
from cw_hub.operation.heartbeats import Figures, Process
from cw_hub.operation.resources import Resources
from cw_hub.players import packages
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import jobs_of, keep_in_order
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, BotActivation, BotVersion, Match, MatchParticipant
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.program import make_admin, program_of
from hub.tests.sites import Site, Visitor, site_on, words_of
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [
    NEEDS_BUBBLEWRAP,
    ON_SQLITE,
]

T = TypeVar("T")
JOBS = jobs_of(Worker("me", 1, MATCH_TYPES))
KIT = {name: file.read_bytes() for name, file in kits.files("paint", "python").items()}
PAINTER = packages.pack(KIT)
BETTER = packages.pack({**KIT, "bot.py": KIT["bot.py"] + b"\n# <b>better</b>\n"})
BROKEN = b"raise SystemExit('broken <b>')\n"
PAGE = "/bot/Painter"


def upload(visitor: Visitor, data: bytes, note: str = "", name: str = "bot.zip") -> None:
    """Upload a version of the bot."""
    form = {"csrf_token": visitor.token(PAGE), "note": note}
    answer = visitor.send_form(f"{PAGE}/upload?game=paint", form, files={"program": (name, data)})
    assert answer.status_code == 303, answer.text


def register(visitor: Visitor, data: bytes = PAINTER, **values: str) -> requests.Response:
    """Register a bot by a program, as the page does."""
    form = {"csrf_token": visitor.token("/bots/new"), "game": "paint", "name": "Painter"}
    files = {"program": ("bot.zip", data)}
    return visitor.send_form("/bots/new/program", {**form, **values}, files=files)


class Owner:
    """Somebody with a program."""

    def __init__(self, site: Site, name: str = "ann") -> None:
        site.open_competition("paint", options={"turns": 10})
        self.site, self.name = site, name
        self.browser = site.player(name)
        site.queue.jobs.clear()

    def do_jobs(self) -> int:
        """Do what waits in the queue; return how many matches were played."""
        played = 0
        while self.site.queue.jobs:
            job, arguments, _ = self.site.queue.jobs.pop(0)
            JOBS[job](self.site.resources, *arguments)
            played += job == PLAY
        return played

    def read(self, verb: Callable[[Session], T]) -> T:
        with self.site.resources.database.reading() as session:
            return verb(session)

    def bot(self) -> BotView:
        bot = self.read(lambda session: bots_service.find(session, "paint", "Painter"))
        assert bot is not None
        return bot

    def versions(self) -> list[tuple[int, str]]:
        rows = self.read(lambda session: versions.versions_of(session, self.bot().id))
        return [(one.number, one.state) for one in reversed(rows)]

    def played(self, match: str) -> dict[str, tuple[int | None, list[object]]]:
        """Return the version and the faults of those who have played a match."""
        rows = self.read(
            lambda session: session.execute(
                select(MatchParticipant.name, MatchParticipant.version, MatchParticipant.faults)
                .join(Match, Match.id == MatchParticipant.match_id)
                .where(Match.match_id == match, Match.state == "done")
            ).all()
        )
        return {name: (version, faults) for name, version, faults in rows}

    def practises(self) -> str:
        """Play a practice match; return its name."""
        answer = self.browser.fill(f"{PAGE}/test-match", on=PAGE, opponent="walker", game="paint")
        assert answer.status_code == 303
        assert self.do_jobs() == 1
        return answer.headers["Location"].rpartition("/")[2]

    def rated(self) -> str:
        """Play a rated match; return its name."""
        self.site.clock.advance(3600)
        with self.site.resources.database.writing() as session:
            pairing.plan(session)
        send_due(self.site.resources, MATCH_TYPES.sendings)
        assert self.do_jobs() >= 1
        newest = select(Match.match_id).where(Match.kind == "rated").order_by(Match.id.desc())
        return self.read(lambda session: session.scalars(newest.limit(1)).one())


@pytest.fixture
def owner(site: Site) -> Owner:
    return Owner(site)


def test_a_program_is_uploaded_checked_and_plays_in_practice(owner: Owner) -> None:
    assert register(owner.browser, note="first <i>try</i>").status_code == 303
    assert owner.bot().status == "PENDING"
    assert owner.versions() == [(1, "building")]
    assert "being checked" in words_of(owner.browser.open(PAGE))
    owner.do_jobs()
    assert (owner.bot().status, owner.bot().version) == ("ACTIVE", 1)
    page = owner.browser.open(PAGE)
    assert "first &lt;i&gt;try&lt;/i&gt;" in page.text
    assert "Version 1 active" in words_of(page)
    assert "Python" in words_of(page)
    assert owner.played(owner.practises())["Painter"] == (1, [])


@pytest.mark.thorough
def test_a_version_that_fails_its_check_does_not_play_and_the_last_good_one_plays_on(
    owner: Owner,
) -> None:
    assert register(owner.browser).status_code == 303
    owner.do_jobs()
    upload(owner.browser, BROKEN, name="bot.py")
    owner.do_jobs()
    assert owner.versions() == [(1, "ready"), (2, "failed")]
    assert (owner.bot().status, owner.bot().version) == ("ACTIVE", 1)
    page = owner.browser.open(PAGE)
    assert "failed its check" in words_of(page)
    assert "broken <b>" not in page.text
    refused = owner.browser.fill(f"{PAGE}/use-version", on=PAGE, version="2", game="paint")
    assert refused.status_code == 303
    assert owner.bot().version == 1


@pytest.mark.thorough
def test_a_first_version_that_fails_leaves_a_bot_that_says_why(owner: Owner) -> None:
    assert register(owner.browser, packages.pack({"bot.py": BROKEN})).status_code == 303
    owner.do_jobs()
    assert (owner.bot().status, owner.bot().version) == ("INACTIVE", None)
    assert owner.bot().reason
    upload(owner.browser, PAINTER)
    owner.do_jobs()
    assert (owner.bot().status, owner.bot().version) == ("ACTIVE", 2)


@pytest.mark.thorough
def test_rated_matches_go_on_through_versions_and_each_says_which_one_played(owner: Owner) -> None:
    assert register(owner.browser).status_code == 303
    owner.do_jobs()
    assert owner.played(owner.rated())["Painter"] == (1, [])
    upload(owner.browser, BETTER, note="better")
    owner.do_jobs()
    assert owner.played(owner.rated())["Painter"] == (2, [])
    answer = owner.browser.fill(f"{PAGE}/use-version", on=PAGE, version="1", game="paint")
    assert answer.status_code == 303
    assert owner.versions() == [(1, "ready"), (2, "ready")]
    assert owner.played(owner.rated())["Painter"] == (1, [])
    marks = owner.read(lambda session: versions.activations_of(session, owner.bot().id))
    assert [one.number for one in marks] == [1, 2, 1]


@pytest.mark.thorough
def test_a_match_goes_on_with_the_version_that_it_began_with(owner: Owner) -> None:
    assert register(owner.browser).status_code == 303
    owner.do_jobs()
    answer = owner.browser.fill(f"{PAGE}/test-match", on=PAGE, opponent="walker", game="paint")
    (job, (match, *_), _), owner.site.queue.jobs[:] = owner.site.queue.jobs[0], []
    assert job == PLAY
    with owner.site.resources.database.writing() as session:
        worker = Worker("me", 1, MATCH_TYPES)
        claim = worker.claim_in(session, owner.site.resources, int(match))
    assert claim is not None
    upload(owner.browser, BETTER)
    owner.do_jobs()
    assert owner.bot().version == 2
    worker.play_claimed(owner.site.resources, claim)
    name = answer.headers["Location"].rpartition("/")[2]
    assert owner.played(name)["Painter"] == (1, [])


def test_its_author_downloads_a_version_and_sees_what_differs(owner: Owner) -> None:
    assert register(owner.browser).status_code == 303
    upload(owner.browser, BETTER)
    first = owner.browser.open(f"{PAGE}/version/1.zip?game=paint")
    assert first.content == PAINTER
    assert first.headers["Content-Disposition"] == "attachment; filename=Painter-1.zip"
    page = owner.browser.open(f"{PAGE}/compare?game=paint&a=2&b=1")
    assert page.status_code == 200
    assert "# &lt;b&gt;better&lt;/b&gt;" in page.text
    assert "1 file differs" in words_of(page)
    assert owner.browser.open(f"{PAGE}/compare?game=paint&a=1&b=7").status_code == 404
    assert owner.browser.open(f"{PAGE}/compare?game=paint&a=x").status_code == 404


def test_nobody_else_reads_or_changes_a_version_admins_neither(owner: Owner) -> None:
    assert register(owner.browser).status_code == 303
    owner.do_jobs()
    match = owner.practises()
    other, admin = owner.site.player("bob"), owner.site.player("eve")
    make_admin(owner.site, "eve")
    for visitor in (other, admin):
        for path in ("version/1.zip", "compare?a=1&b=1"):
            joint = "&" if "?" in path else "?"
            assert visitor.open(f"{PAGE}/{path}{joint}game=paint").status_code == 404
        form = {"csrf_token": visitor.token("/settings"), "version": "1"}
        for verb in ("use-version", "upload"):
            files = {"program": ("bot.py", BROKEN)}
            path = f"{PAGE}/{verb}?game=paint"
            assert visitor.send_form(path, form, files=files).status_code == 404
    for path in (f"{PAGE}?game=paint", f"/match/{match}"):
        for visitor in (other, admin, owner.site.visitor()):
            text = visitor.open(path).text
            assert "version/1.zip" not in text
            assert "SHA-256" not in text
    assert owner.versions() == [(1, "ready")]
    anonymous = owner.site.visitor().open(f"{PAGE}/version/1.zip?game=paint")
    assert (anonymous.status_code, b"PK" in anonymous.content) == (303, False)


def test_versions_go_with_the_bot_and_with_the_account(owner: Owner) -> None:
    assert register(owner.browser).status_code == 303
    stored = owner.site.resources.objects
    assert len(list(stored.keys("bots/"))) == 1
    retired = owner.browser.fill(f"{PAGE}/retire", on=PAGE, confirm="Painter", game="paint")
    assert retired.status_code == 303
    assert owner.read(lambda session: session.scalars(select(BotVersion)).all()) == []
    assert owner.read(lambda session: session.scalars(select(BotActivation)).all()) == []
    owner.site.clock.advance(30 * 86400)
    keep_in_order(owner.site.resources)
    assert list(stored.keys("bots/")) == []


def test_a_site_that_runs_no_programs_says_why_and_takes_none(
    resources: Resources, hub_clock: StillClock
) -> None:
    settings = replace(resources.settings, hosting="off")
    with site_on(replace(resources, settings=settings), hub_clock) as site:
        owner = Owner(site)
        assert NO_PROGRAMS in words_of(owner.browser.open("/bots/new?kind=program"))
        assert NO_PROGRAMS not in words_of(owner.browser.open("/bots/new"))
        refused = register(owner.browser)
        assert (refused.status_code, NO_PROGRAMS in words_of(refused)) == (422, True)


@pytest.mark.thorough
def test_the_page_shows_the_matches_of_a_version_and_the_graph_marks_when_it_began(
    owner: Owner,
) -> None:
    assert register(owner.browser).status_code == 303
    owner.do_jobs()
    first = owner.rated()
    upload(owner.browser, BETTER)
    owner.do_jobs()
    second = owner.rated()
    pages = {
        number: owner.site.visitor().open(f"{PAGE}?game=paint&version={number}")
        for number in ("", "1", "2", "7")
    }
    links = {number: (first in page.text, second in page.text) for number, page in pages.items()}
    assert links == {"": (True, True), "1": (True, False), "2": (False, True), "7": (True, True)}
    assert "Recent matches of version 2" in words_of(pages["2"])
    assert re.search(r"Games 1 ", words_of(pages["2"]))
    assert re.search(r"Games 2 ", words_of(pages[""]))
    payload = owner.site.visitor().open(f"{PAGE}/ratings?game=paint").json()
    assert [mark["number"] for mark in payload["versions"]] == [1, 2]


def test_the_export_of_a_persons_data_holds_all_versions(owner: Owner) -> None:
    assert register(owner.browser, note="first").status_code == 303
    upload(owner.browser, BETTER)
    with zipfile.ZipFile(io.BytesIO(owner.browser.open("/settings/data.zip").content)) as packed:
        assert packed.read("programs/paint/Painter-1.zip") == PAINTER
        assert packed.read("programs/paint/Painter-2.zip") == BETTER
        (first, _) = json.loads(packed.read("programs.json"))
    assert (first["number"], first["note"], first["language"]) == (1, "first", "python")


@pytest.mark.thorough
def test_an_api_program_saves_reads_and_chooses_versions_of_its_owner_alone(owner: Owner) -> None:
    site = owner.site
    api = program_of(site, "ann", "read", "bots")
    program = {"file": "bot.zip", "data": b64encode(PAINTER).decode(), "note": "by a script"}
    about = {"game": "paint", "name": "Painter", "program": program}
    answer = api.do("/bots", about)
    assert (answer.status_code, answer.json()["shared_secret"]) == (201, None)
    at = f"/bots/{answer.json()['bot']['bot_id']}/versions"
    owner.do_jobs()
    better = {**program, "data": b64encode(BETTER).decode()}
    assert api.do(at, better).json()["state"] == "building"
    owner.do_jobs()
    assert [(one["number"], one["is_active"]) for one in api.read(at)["items"]] == [
        (2, True),
        (1, False),
    ]
    assert b64decode(api.read(f"{at}/1")["data"]) == PAINTER
    assert api.do(f"{at}/1/use").json()["is_active"]
    assert api.do(at, {**program, "data": "***"}).status_code == 422
    assert api.do(at, {**program, "data": b64encode(b"PK\x03\x04lies").decode()}).status_code == 422
    site.player("bob")
    site.player("eve")
    make_admin(site, "eve")
    for other in (program_of(site, "bob", "read", "bots"), program_of(site, "eve", "read", "bots")):
        assert other.ask(at).status_code == 404
        assert other.ask(f"{at}/1").status_code == 404
        assert other.do(f"{at}/1/use").status_code == 404
        assert other.do(at, program).status_code == 404
    assert owner.versions() == [(1, "ready"), (2, "ready")]


@pytest.mark.thorough
def test_a_daily_game_of_paint_is_played_by_programs_of_people(owner: Owner) -> None:
    resources = owner.site.resources
    other = Owner(owner.site, "bob")
    assert register(owner.browser).status_code == 303
    assert register(other.browser, name="Roller").status_code == 303
    owner.do_jobs()
    with resources.database.writing() as session:
        competition = competitions_service.new(session, "daily", "paint")
        competitions_service.set_state(session, competition.id, "running")
        competitions_service.set_values(session, competition.id, {"options": {"turns": 20}})
        game = daily_service.begin(session, competition.id)
        row = session.scalars(select(Match.id).where(Match.match_id == game)).one()
        assert of_programs(session, [row]) == {row}
    Worker("me", 1, MATCH_TYPES).play(resources, row)
    played = owner.played(game)
    assert {name: played[name] for name in ("Painter", "Roller")} == {
        "Painter": (1, []),
        "Roller": (1, []),
    }


@pytest.mark.thorough
def test_a_worker_that_runs_no_programs_leaves_the_match_to_those_that_do(owner: Owner) -> None:
    assert register(owner.browser).status_code == 303
    owner.do_jobs()
    owner.browser.fill(f"{PAGE}/test-match", on=PAGE, opponent="walker", game="paint")
    ((_, (match, *_), _),) = owner.site.queue.jobs
    Worker("other", 1, MATCH_TYPES, runs_programs=False).play(owner.site.resources, int(match))
    state = select(Match.state).where(Match.id == int(match))
    assert owner.read(lambda session: session.scalars(state).one()) == "interrupted"


@pytest.mark.thorough
def test_a_check_that_was_lost_is_sent_again_once_in_ten_minutes(owner: Owner) -> None:
    hub, queue = owner.site.resources, owner.site.queue
    assert register(owner.browser).status_code == 303
    queue.jobs.clear()
    checks.send_again(hub)
    owner.site.clock.advance(601)
    checks.send_again(hub)
    assert queue.jobs == []
    programs = Figures(languages={"python": "3.12"})
    Process("one", "1", ("worker",), owner.site.clock(), programs).beat(hub)
    checks.send_again(hub)
    checks.send_again(hub)
    assert [(job, bot) for job, (bot,), _ in queue.jobs] == [(CHECK, owner.bot().id)]
    owner.do_jobs()
    assert owner.versions() == [(1, "ready")]


def zipped(*names: str, mode: int = 0o100644) -> bytes:
    """Return a zip of empty files of these names, each said to be of a kind."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name in names:
            about = zipfile.ZipInfo(name)
            about.external_attr = mode << 16
            file.writestr(about, b"/etc/passwd")
    return packed.getvalue()


HOSTILE = {
    zipped("bot.py", "../../bot.py"): packages.LEADS_OUT,
    zipped("bot.py", mode=0o120777): packages.LINK,
    packages.pack({"bot.py": b"#" * (packages.LARGEST_UNPACKED + 1)}): packages.TOO_LARGE_UNPACKED,
    b"#" * (packages.LARGEST + 1): packages.TOO_LARGE,
    b"PK\x03\x04" + b"bot.py" * 100: packages.UNREADABLE,
    b"\xff\x00" * 100: packages.UNREADABLE,
    PAINTER[:-40]: packages.UNREADABLE,
    zipped(*(f"bot{number}.py" for number in range(2000))): packages.TOO_MANY_FILES,
    zipped("readme.txt"): packages.NOTHING,
    zipped("bot.rs"): packages.NOTHING,
    zipped(): packages.NOTHING,
}
"""Uploads, and the sentence of each."""


def test_hostile_zips_are_refused_with_a_sentence_and_leave_nothing(owner: Owner) -> None:
    for data, sentence in HOSTILE.items():
        refused = register(owner.browser, data)
        assert refused.status_code == 422, sentence
        assert sentence in words_of(refused)
        # Refused uploads count towards the limit of new bots too.
        owner.site.clock.advance(86_400)
    assert owner.read(lambda session: session.scalars(select(BotVersion)).all()) == []
    assert list(owner.site.resources.objects.keys("bots/")) == []


def test_a_class_behind_one_address_has_all_its_programs_checked(site: Site) -> None:
    """More at once than one address may ask for: what is not sent at first is sent by a tick."""
    site.open_competition("paint")
    for number in range(6):
        pupil = site.player(f"pupil{number}")
        assert register(pupil, name=f"Painter{number}").status_code == 303
    sent = [arguments[0] for job, arguments, _ in site.queue.jobs if job == CHECK]
    assert len(sent) < 6
    send_waiting(site.resources)
    sent += [arguments[0] for job, arguments, _ in site.queue.jobs if job == CHECK]
    with site.resources.database.reading() as session:
        pending = select(Bot.id).where(Bot.game == "paint", Bot.status == "PENDING")
        assert set(sent) == set(session.scalars(pending))
