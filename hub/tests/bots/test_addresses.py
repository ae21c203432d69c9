"""The addresses of bots: one rule for all of them, and no page that waits for a name server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from cw.arena.bots import BotSpec
from cw.matches.run import run_match
from cw.matches.spec import Isolation, MatchSpec
from cw_hub.bots import jobs as bots_jobs
from cw_hub.bots.addresses import INSECURE, INTERNAL, address_problem, host_of, isolation_of
from cw_hub.competitions.daily.bots import probe_bot
from cw_hub.competitions.tournament.team_bots import NO_URL
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.site.processes import begin_site
from cw_hub.store.models import Bot, User
from hub.tests.broken_bots import Broken, serving
from hub.tests.competitions.daily.test_admission import known
from hub.tests.competitions.tournament.test_my_team_page import PAGE, joined, tournament
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.program import make_admin, program_of
from hub.tests.served_bots import serving_bots
from hub.tests.sites import Site, site_on, words_of

PUBLIC = HubSettings(public_url="https://hub.example")
GRADER = "/bots/end-of-codes"


@pytest.fixture
def public_site(resources: Resources, hub_clock: StillClock) -> Iterator[Site]:
    """A hub that other machines reach, whose bots need https and public addresses."""
    settings = replace(resources.settings, host="0.0.0.0", allow_http=True)
    with site_on(replace(resources, settings=settings), hub_clock) as site:
        begin_site(site.resources)
        yield site


def confirm(site: Site) -> None:
    """Let all accounts have confirmed their addresses."""
    with site.resources.database.writing() as session:
        session.execute(update(User).values(email_verified_at=site.clock()))


def form_of(endpoint: str, name: str = "Swarm") -> dict[str, str]:
    return {"game": "code-battle", "name": name, "endpoint": endpoint, "description": ""}


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://bot.example/x", ""),
        ("https://93.184.216.34", ""),
        ("http://bot.example", INSECURE),
        ("http://127.0.0.1:3000", INSECURE),
        ("https://127.0.0.1:3000", INTERNAL),
        ("https://localhost", INTERNAL),
        ("https://a.localhost", INTERNAL),
        ("https://[::1]:3000", INTERNAL),
        ("https://192.0.0.192", INTERNAL),
        ("https://[::ffff:10.0.0.1]", INTERNAL),
    ],
)
def test_where_bots_of_a_public_site_may_be(url: str, problem: str) -> None:
    assert address_problem(url, PUBLIC) == problem


def test_settings_widen_where_bots_may_be() -> None:
    assert address_problem("http://127.0.0.1:3000", HubSettings()) == ""
    wider = replace(PUBLIC, bot_http=True, bot_network=("public", "10.1.0.0/16"))
    assert address_problem("http://10.1.2.3", wider) == ""
    assert address_problem("http://10.2.2.3", wider) == INTERNAL
    assert isolation_of(PUBLIC) == Isolation("require", "public", https=True)
    assert isolation_of(wider) == Isolation("require", "public", ("10.1.0.0/16",))


def test_a_host_has_one_spelling() -> None:
    spellings = ("https://Bot.Example:8443/x", "http://bot.example.", "https://BOT.example")
    assert {host_of(url) for url in spellings} == {"bot.example"}
    assert host_of("http://localhost:1") == host_of("http://127.0.0.1") == "127.0.0.1"
    assert host_of("http://[0::1]:80") == "::1"


@ON_SQLITE
@pytest.mark.parametrize(
    ("endpoint", "problem"),
    [("http://93.184.216.34", INSECURE), ("https://10.1.2.3", INTERNAL)],
)
def test_every_form_and_the_api_refuse_the_same_addresses(
    public_site: Site, endpoint: str, problem: str
) -> None:
    site = public_site
    ann = site.player("Ann")
    tournament(site)
    alpha = joined(site)
    confirm(site)
    program = program_of(site, "Ann", "bots")
    fine = "https://93.184.216.34"
    assert ann.fill("/bots/new", **form_of(fine)).status_code == 200
    bot_id = program.ask("/users/Ann").json()["bots"][0]["bot_id"]
    refused = {
        "register": ann.fill("/bots/new", **form_of(endpoint, "Other")),
        "end of codes": ann.fill(GRADER, endpoint=endpoint, form="urlencoded"),
        "team": alpha.fill(f"{PAGE}/bot", on=PAGE, endpoint=endpoint),
        "api register": program.do("/bots", form_of(endpoint, "Other")),
        "api change": program.do(f"/bots/{bot_id}", {"endpoint": endpoint}, "PATCH"),
    }
    for where, answer in refused.items():
        assert (answer.status_code, problem in answer.text) == (422, True), where
    ann.fill("/bot/Swarm/edit?game=code-battle", "/bots/new", endpoint=endpoint, description="")
    assert problem in words_of(ann.open("/bot/Swarm?game=code-battle"))
    make_admin(site, "Ann")
    values = {"csrf_token": ann.token("/t/t1/host/teams"), "team": "1", "bot": endpoint}
    assert problem in words_of(ann.send_form("/t/t1/host/set-bot", values))
    with site.resources.database.reading() as session:
        assert endpoint not in session.scalars(select(Bot.endpoint)).all()
    assert alpha.fill(f"{PAGE}/bot", on=PAGE, endpoint=" ").text.count(NO_URL) == 1


@ON_SQLITE
def test_no_page_waits_for_a_name_server(
    public_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, real = public_site, socket.getaddrinfo
    names: list[Any] = []

    def look_up(host: Any, *more: Any, **others: Any) -> Any:
        if host in ("127.0.0.1", "0.0.0.0"):
            return real(host, *more, **others)
        names.append(host)
        raise socket.gaierror

    ann = site.player("Ann")
    tournament(site)
    alpha = joined(site)
    confirm(site)
    program = program_of(site, "Ann", "bots")
    make_admin(site, "Ann")
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    silent = "https://silent.example"
    assert ann.fill("/bots/new", **form_of(silent)).status_code == 200
    assert program.do("/bots", form_of(silent, "Other")).status_code == 201
    edit = {"endpoint": f"{silent}/new", "description": ""}
    ann.fill("/bot/Swarm/edit?game=code-battle", "/bots/new", **edit)
    bot_id = program.ask("/users/Ann").json()["bots"][0]["bot_id"]
    assert program.do(f"/bots/{bot_id}", edit, "PATCH").status_code == 200
    assert ann.fill(GRADER, endpoint=silent, form="urlencoded").status_code == 303
    assert ann.open(GRADER).status_code == 200
    assert alpha.fill(f"{PAGE}/bot", on=PAGE, endpoint=silent).status_code == 303
    values = {"csrf_token": ann.token("/t/t1/host/teams"), "team": "1", "bot": silent}
    assert ann.send_form("/t/t1/host/set-bot", values).status_code == 303
    assert names == []


def test_a_match_asks_no_service_at_plain_http_where_https_is_needed() -> None:
    with serving(Broken("good", "", "")) as address:
        bots = (BotSpec("ann", "http", address), BotSpec("bob", "builtin", "random"))
        isolation = Isolation(https=True)
        spec = MatchSpec("m", "code-battle", bots, 1, {"max_turns": 3}, isolation=isolation)
        result = asyncio.run(run_match(spec, secrets={"ann": {"secret": "s"}}))
    assert "the address of a bot must begin with https://" in result.faults[0].detail


@ON_SQLITE
def test_a_probe_sends_no_key_in_clear(public_site: Site) -> None:
    site = public_site
    site.player("Ada").open(GRADER)
    settings = replace(site.resources.settings, bot_network=("any",))
    with serving_bots() as served:
        with site.resources.database.writing() as session:
            change = update(Bot).values(endpoint=served.at("Ada"), kind="url")
            bot = session.scalars(change.where(Bot.game == "end-of-codes").returning(Bot.id)).one()
        probe_bot(replace(site.resources, settings=settings), bot)
        assert served.asked == []
        probe_bot(replace(site.resources, settings=replace(settings, bot_http=True)), bot)
        assert len(served.asked) == 1


def test_a_check_says_that_https_is_needed(resources: Resources) -> None:
    settings = replace(resources.settings, public_url="https://hub.example")
    public, target = replace(resources, settings=settings), known(resources, "http://bot.example")
    ((_, steps),) = bots_jobs.asked(public, [target])
    assert steps == [{"step": "address", "ok": False, "problem": INSECURE, "fix": ""}]
