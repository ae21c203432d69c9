"""Bots of people: registered, checked over real HTTP, sent into practice matches, retired."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import pytest
import requests
from sqlalchemy import select, update

from cw.games.registry import load_game
from cw.kits import LANGUAGES
from cw.replays.document import parse
from cw.replays.verify import verify
from cw_hub.accounts import audit
from cw_hub.bots import health
from cw_hub.bots import service as bots_service
from cw_hub.bots.pages import CLOSED
from cw_hub.bots.service import BotView, NewBot
from cw_hub.competitions import service as competitions_service
from cw_hub.matches import lookup, results
from cw_hub.matches.friendly import practise
from cw_hub.matches.jobs import Worker
from cw_hub.operation.resources import Resources
from cw_hub.pages.polls import Tags
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import jobs_of
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Match, User
from hub.tests.campaign import ROOT
from hub.tests.conftest import ON_BOTH, ON_SQLITE, StillClock
from hub.tests.sites import Site, Visitor, site_on, words_of

pytestmark = ON_SQLITE

T = TypeVar("T")
NOBODY = "http://127.0.0.1:9"
WORKSHOP = "/workshop/hexagon/"
ME = Worker("me", 1, MATCH_TYPES)


@contextmanager
def served(game: str, strategy: str, secret: str = "", port: str = "0") -> Iterator[str]:
    """Serve a built-in strategy as a web service; gives its address."""
    command = [sys.executable, "-m", "cw", "bots", "serve", game, strategy, "--port", port]
    environment = os.environ | ({"BOT_SECRET": secret} if secret else {})
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        match = re.search(r"http://\S+", process.stdout.readline())
        assert match
        try:
            yield match[0]
        finally:
            process.terminate()


class Owner:
    """A user, and what one does with bots; each verb in a transaction of its own."""

    def __init__(self, resources: Resources, name: str = "ann") -> None:
        self.resources, self.name = resources, name
        self.clock = resources.clock
        self.id = self.do(self._add(name)).id

    def _add(self, name: str) -> Callable[[Session], User]:
        def add(session: Session) -> User:
            user = User(username=name, username_key=name, created_at=self.clock())
            session.add(user)
            session.flush()
            return user

        return add

    def do(self, verb: Callable[[Session], T]) -> T:
        with self.resources.database.writing(self.name) as session:
            return verb(session)

    def register(self, name: str = "Swarm", game: str = "hexagon", at: str = NOBODY) -> int:
        new = NewBot(game, name, at)
        sealer = self.resources.sealer
        return self.do(lambda s: bots_service.register(s, sealer, self.id, new)).id

    def find(self, name: str = "Swarm", game: str | None = None) -> BotView:
        bot = self.do(lambda session: bots_service.find(session, game, name))
        assert bot is not None
        return bot

    def check(self, bot: int) -> BotView:
        jobs_of(ME)[bots_service.CHECK](self.resources, bot)
        return self.find()

    def practise(self, bot: int, strategy: str = "random") -> tuple[int, str]:
        return self.do(lambda session: practise(session, bot, strategy))

    def retire(self, bot: int) -> bool:
        return self.do(lambda session: bots_service.retire(session, bot))


@pytest.fixture
def ann(resources: Resources) -> Owner:
    return Owner(resources)


def test_a_name_is_taken_once_in_a_game_in_any_case(ann: Owner) -> None:
    def register(number: int) -> bool:
        try:
            ann.register(("Swarm", "SWARM")[number % 2])
        except bots_service.NameTaken:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(register, range(6))).count(True) == 1
    assert ann.register(game="code-battle")
    ann.retire(ann.find(game="hexagon").id)
    with pytest.raises(bots_service.NameTaken):
        ann.register("swarm")


def test_a_user_has_ten_bots_and_no_more(ann: Owner) -> None:
    ids = [ann.register(f"bot-{number}") for number in range(10)]
    with pytest.raises(bots_service.TooManyBots, match="You have 10 bots"):
        ann.register("one-more")
    ann.retire(ids[0])
    ann.register("one-more")


def test_the_secret_lies_sealed(ann: Owner) -> None:
    new = NewBot("hexagon", "Swarm", NOBODY)
    bot = ann.do(lambda s: bots_service.register(s, ann.resources.sealer, ann.id, new))
    assert re.fullmatch("[0-9a-f]{64}", bot.secret)
    target = ann.do(lambda session: health.check_target(session, bot.id))
    assert target is not None
    assert bot.secret.encode() not in target.secret.data
    assert ann.resources.sealer.open(target.secret, target.secret_row).decode() == bot.secret


def test_a_bot_that_answers_as_it_should_is_active(ann: Owner) -> None:
    with served("hexagon", "greedy") as address:
        checked = ann.check(ann.register(at=f"{address}/"))
    assert (checked.status, checked.reason) == ("ACTIVE", "")
    assert len(checked.checks) > 5
    assert all(step["ok"] for step in checked.checks)
    assert checked.checked_at == ann.clock()


def test_a_bot_is_asked_with_its_own_secret(ann: Owner) -> None:
    new = NewBot("code-battle", "Swarm", NOBODY)
    bot = ann.do(lambda s: bots_service.register(s, ann.resources.sealer, ann.id, new))
    for secret, status in ((bot.secret, "ACTIVE"), ("another", "INACTIVE")):
        with served("code-battle", "swarm", secret) as address:
            new_address = update(Bot).values(endpoint=address, status="PENDING")
            ann.do(lambda s, change=new_address: s.execute(change))  # type: ignore[misc]
            assert ann.check(bot.id).status == status


def test_a_bot_that_nobody_reaches_is_inactive_and_says_why(ann: Owner) -> None:
    checked = ann.check(ann.register())
    assert checked.status == "INACTIVE"
    assert checked.reason == checked.checks[0]["problem"]
    assert checked.checks[0]["ok"] is False


def test_what_a_check_finds_too_late_is_not_written(ann: Owner) -> None:
    bot = ann.register()
    target = ann.do(lambda session: health.check_target(session, bot))
    assert target is not None
    fine = [{"step": "answers", "ok": True}]

    def note() -> bool:
        return ann.do(lambda session: health.note_check(session, target, fine))

    ann.do(lambda session: session.execute(update(Bot).values(endpoint="http://elsewhere")))
    assert not note()
    ann.do(lambda session: session.execute(update(Bot).values(endpoint=NOBODY)))
    assert note()
    assert note()
    ann.retire(bot)
    assert not note()
    assert ann.do(lambda session: health.check_target(session, bot)) is None


def test_a_bot_plays_one_practice_match_at_a_time(ann: Owner) -> None:
    bot = ann.register()
    match, match_id = ann.practise(bot)
    with pytest.raises(bots_service.Busy, match="Try again when its match is over"):
        ann.practise(bot)
    ME.play(ann.resources, match)
    view = ann.do(lambda session: lookup.find(session, MATCH_TYPES, match_id))
    assert view is not None
    assert (view.state, view.title) == ("done", "Swarm - random")
    assert ann.id in {seat.user_id for seat in view.seats}
    assert not view.kind.is_public
    assert view.result_of(bot) == "lost"
    assert ann.practise(bot)[0] != match


def test_a_bot_may_have_the_name_of_its_opponent(ann: Owner) -> None:
    match, match_id = ann.practise(ann.register("random"), "random")
    ME.play(ann.resources, match)
    view = ann.do(lambda session: lookup.find(session, MATCH_TYPES, match_id))
    assert view is not None
    assert [seat.name for seat in view.seats] == ["random", "random-builtin"]
    assert view.state == "done"


def test_a_retired_bot_is_gone_for_good_and_noted(ann: Owner) -> None:
    bot = ann.register()
    assert ann.retire(bot)
    assert not ann.retire(bot)
    row = ann.do(lambda session: session.get_one(Bot, bot))
    assert (row.status, row.endpoint, row.secret) == ("RETIRED", "", None)
    assert ann.do(lambda session: bots_service.bots_of_user(session, ann.id)) == []
    with pytest.raises(bots_service.WrongStatus, match="The bot is RETIRED"):
        ann.practise(bot)
    (noted,) = ann.do(lambda session: audit.history(session, f"bot:{row.bot_id}"))
    assert (noted.actor, noted.verb) == ("ann", "retire")


# The pages


@pytest.fixture
def site(site: Site) -> Site:
    """A hub on which bots can be registered for Hexagon."""
    site.open_competition("hexagon")
    return site


def register(visitor: Visitor, **values: str) -> requests.Response:
    fields = {"game": "hexagon", "name": "Swarm", "endpoint": NOBODY, "description": ""}
    return visitor.fill("/bots/new", **fields | values)


def do_jobs(site: Site) -> None:
    """Do what was sent to the queue."""
    waiting, site.queue.jobs[:] = list(site.queue.jobs), []
    for job, arguments, _ in waiting:
        jobs_of(ME)[job](site.resources, *arguments)


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("game", "chess", "Please choose a game"),
        ("game", "end-of-codes", "Please choose a game"),
        ("name", " ", "Please enter a bot name"),
        ("name", "ab", "The bot name must be 3 to 32 characters long"),
        ("name", "a_b", "The bot name must only contain letters, numbers, and hyphens"),
        ("endpoint", "", "Please enter the endpoint URL"),
        ("endpoint", f"http://{'a' * 500}", "The endpoint URL must be at most 500 characters long"),
        ("endpoint", "bot.example", "Please enter a valid URL"),
        ("endpoint", "ftp://bot.example", "Please enter a valid URL"),
        ("endpoint", "http://u@bot.example", "Please enter a valid URL"),
        ("endpoint", "http://bot.example/?a", "Please enter a valid URL"),
        ("endpoint", "http://[::1", "Please enter a valid URL"),
        ("endpoint", "http://a:99999", "Please enter a valid URL"),
        ("description", "x" * 501, "The description must be at most 500 characters long"),
    ],
)
def test_what_is_wrong_stands_at_its_field(site: Site, field: str, value: str, error: str) -> None:
    ann = site.player("Ann")
    answer = register(ann, **{field: value})
    assert answer.status_code == 422
    assert f'<p class="error" id="{field}-error">{error}</p>' in answer.text
    assert site.queue.jobs == []
    assert "You have no bots yet." in ann.open("/bots").text


def test_a_game_without_a_competition_is_refused_for_that_reason(site: Site) -> None:
    ann = site.player("Ann")
    for game in ("code-battle",):
        answer = register(ann, game=game)
        assert answer.status_code == 422
        assert CLOSED in words_of(answer)


@ON_BOTH
@pytest.mark.parametrize("hosting", ["sandboxed", "off"])
def test_the_games_with_a_running_competition_are_offered(
    resources: Resources, hub_clock: StillClock, hosting: str
) -> None:
    settings = replace(resources.settings, hosting=hosting)
    with site_on(replace(resources, settings=settings), hub_clock) as site:
        site.open_competition("hexagon")
        offers_what_can_be_entered(site, has_workshop=hosting == "sandboxed")


def offers_what_can_be_entered(site: Site, *, has_workshop: bool) -> None:
    ann, none_runs = site.player("Ann"), "No running competition accepts new bots."

    def offered(kind: str = "address") -> list[str]:
        page = ann.open(f"/bots/new?kind={kind}")
        return re.findall('<option value="([^"]+)"', page.text)

    def way_to_write() -> str:
        home = ann.open("/").text
        match = re.search('href="([^"]+)">Write a bot<span class="unseen"> for Hexagon', home)
        assert match
        return match[1]

    with site.resources.database.writing() as session:
        for game, kind in (("code-battle", "daily"), ("paint", "daily"), ("end-of-codes", "daily")):
            competition = competitions_service.new(session, kind, game)
            competitions_service.set_state(session, competition.id, "running")
    assert offered() == ["code-battle", "hexagon"]
    if has_workshop:
        assert offered("program") == ["code-battle", "end-of-codes", "hexagon", "paint"]
    assert way_to_write() == (WORKSHOP if has_workshop else "/bots/new?game=hexagon")
    form = ann.open("/bots/new?kind=address").text
    assert none_runs not in form
    for kit in re.findall('href="([^"]+/kit/[a-z]+\\.zip)"', form):
        assert ann.open(kit).content.startswith(b"PK"), kit
    assert form.count("/games/hexagon/kit/") == len(LANGUAGES)
    with site.resources.database.writing() as session:
        for one in competitions_service.everything(session):
            if one.game in {"hexagon", "code-battle"}:
                competitions_service.set_state(session, one.id, "paused")
        competition = competitions_service.new(session, "tournament", "hexagon")
        competitions_service.set_state(session, competition.id, "running")
    assert way_to_write() == (WORKSHOP if has_workshop else "/games/hexagon/#write")
    page = ann.open("/bots/new?kind=address").text
    assert none_runs in page
    assert "Register bot</button>" not in page
    refused = register(ann)
    assert refused.status_code == 422
    assert none_runs in refused.text
    assert "You have no bots yet." in ann.open("/bots").text


@ON_BOTH
def test_a_player_adds_a_bot_and_watches_it_play(site: Site) -> None:
    site.app.extensions["tags"] = Tags(lambda: site.clock().timestamp())
    ann = site.player("Ann")
    with served("hexagon", "greedy") as address:
        answer = register(ann, endpoint=address)
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Copy it now. It is shown only once." in answer.text
        secret = re.search(r">([0-9a-f]{64})<", answer.text)
        assert secret
        assert "The bot is being checked." in ann.open("/bot/Swarm?game=hexagon").text
        do_jobs(site)
        page = ann.open("/bot/swarm").text
        assert "The bot takes part in matches." in page
        assert secret[1] not in page
        begun = ann.fill("/bot/Swarm/test-match?game=hexagon", "/bots", opponent="random")
        assert begun.status_code == 303
        path = begun.headers["Location"]
        assert "This match is waiting for a worker." in ann.open(path).text
        waiting = ann.open(f"{path}/state")
        assert waiting.json()["state"] == "queued"
        tag = {"If-None-Match": waiting.headers["ETag"]}
        assert ann.open(f"{path}/state", headers=tag).status_code == 304
        again = ann.fill("/bot/Swarm/test-match?game=hexagon", "/bots", opponent="random")
        assert again.headers["Location"] == "/bot/Swarm?game=hexagon"
        assert "Your bot is playing." in ann.open("/bot/Swarm?game=hexagon").text
        do_jobs(site)
    site.clock.advance(1)
    assert ann.open(f"{path}/state", headers=tag).json()["state"] == "done"
    assert "Places 1 Swarm" in words_of(ann.open(path)).replace("Place Bot Owner Score Faults ", "")
    link = ann.open(f"{path}/replay").headers["Location"]
    replay = ann.open(link)
    assert verify(load_game("hexagon"), parse(replay.content)) is None
    unpacked = ann.open(link, headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in unpacked.headers
    assert unpacked.content == replay.content


@ON_BOTH
def test_practice_is_for_its_owner_and_admins(site: Site) -> None:
    ann, bob, visitor = site.player("Ann"), site.player("Bob"), site.visitor()
    register(ann)
    site.queue.jobs.clear()
    match = ann.fill("/bot/Swarm/test-match?game=hexagon", "/bots", opponent="random")
    path = match.headers["Location"]
    do_jobs(site)
    views = [path, f"{path}/state", f"{path}/replay", path.replace("match", "replay")]
    for view in views:
        assert ann.open(view).status_code in (200, 302), view
        assert bob.open(view).status_code == 404, view
        assert visitor.open(view).status_code == 404, view
    with site.resources.database.writing() as session:
        session.execute(update(User).where(User.username == "Bob").values(role="admin"))
    for view in views:
        assert bob.open(view).status_code in (200, 302), view


@ON_BOTH
def test_a_bot_is_seen_and_moved_by_its_owner_alone(site: Site) -> None:
    ann, bob, visitor = site.player("Ann"), site.player("Bob"), site.visitor()
    register(ann)
    for post in ("check", "test-match", "retire", "edit", "rotate"):
        path = f"/bot/Swarm/{post}?game=hexagon"
        values = {"opponent": "random", "confirm": "Swarm"}
        assert bob.fill(path, "/bots/new", **values).status_code == 404
        assert visitor.fill(path, "/login", **values).headers["Location"] == "/login"
        assert ann.send_form(path, values).status_code == 400
    for other in (bob, visitor):
        page = other.open("/bot/Swarm").text
        assert "Swarm" in page
        assert NOBODY not in page
        assert "Your bot" not in page
    for path in ("/bots", "/bots/new"):
        assert visitor.open(path).headers["Location"].startswith("/login?next=")
    with site.resources.database.reading() as session:
        assert session.scalars(select(Match)).all() == []
        assert session.scalars(select(Bot.status).where(Bot.kind == "url")).all() == ["PENDING"]


@ON_BOTH
def test_a_bot_is_retired_by_its_name(site: Site) -> None:
    ann = site.player("Ann")
    register(ann)
    ann.fill("/bot/Swarm/retire?game=hexagon", "/bots", confirm="swarm")
    assert "Type the bot's name" in ann.open("/bot/Swarm").text
    gone = ann.fill("/bot/Swarm/retire?game=hexagon", "/bot/Swarm", confirm="Swarm")
    assert gone.headers["Location"] == "/bots"
    assert "Swarm was retired." in ann.open("/bots").text
    page = ann.open("/bot/Swarm").text
    assert "Retired by its owner." in page
    assert "Play a test match" not in page
    again = register(ann)
    assert "This bot name is already taken" in again.text


@ON_BOTH
def test_no_page_of_others_holds_an_address(site: Site) -> None:
    ann, visitor = site.player("Ann"), site.visitor()
    register(ann)
    for path in ("/", "/user/Ann", "/ranking", "/bot/Swarm", "/games/hexagon/"):
        assert "127.0.0.1:9" not in visitor.open(path).text


@ON_BOTH
def test_a_match_that_cannot_be_watched_says_why(site: Site) -> None:
    ann = site.player("Ann")
    register(ann)
    began = ann.fill("/bot/Swarm/test-match?game=hexagon", "/bots", opponent="random")
    path = began.headers["Location"]
    texts = {
        "interrupted": "The machine that played this match was lost.",
        "in_progress": "This page updates as the match is played.",
        "void": "This match was called off: a bot is no longer active.",
        "failed": "This match could not be played.",
    }
    for state, text in texts.items():
        changed = {"state": state, "turn": 212, "reason": "a bot is no longer active"}
        with site.resources.database.writing() as session:
            session.execute(update(Match).values(changed))
        assert text in ann.open(path).text
        assert ann.open(path.replace("match", "replay")).status_code == 200


@ON_BOTH
def test_counts_name_what_there_is(resources: Resources) -> None:
    with resources.database.reading() as session:
        assert results.counts(session) == {}


def test_rooms_are_there_without_a_game_at_the_root(site: Site) -> None:
    visitor = site.visitor()
    assert visitor.open("/rooms/").status_code == 200
    assert visitor.open("/rooms/list.json").json()["rooms"] == []
    assert visitor.open("/rooms/table-1/status").status_code == 200
    assert visitor.open("/status").status_code == 404
