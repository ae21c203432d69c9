"""Web services of the site itself: added by the operator, and alone in the networks of the hub."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from cw.cli import main
from cw.games.registry import load_strategies
from cw.matches.run import run_match
from cw.matches.spec import Secrets
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.service import HOUSE, UsernameTaken
from cw_hub.bots import house
from cw_hub.bots import jobs as bots_jobs
from cw_hub.bots import service as bots_service
from cw_hub.bots.addresses import INSECURE, INTERNAL, address_problem, isolation_of
from cw_hub.bots.service import NameTaken, NewBot
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches.jobs import spec_of
from cw_hub.matches.planning import LOST_AFTER, Plan, Seat, plan
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import begin_site
from cw_hub.store.models import Bot, User
from hub.tests.broken_bots import SECRET, Broken, serving

PUBLIC = HubSettings(public_url="https://hub.example", house_network=("127.0.0.0/8",))
GAME = "code-battle"


@pytest.fixture
def service() -> Iterator[str]:
    with serving(Broken("good", "", "")) as address:
        yield address


@pytest.fixture
def public(resources: Resources) -> Resources:
    """A public hub, on whose own machine bots of the site may be."""
    settings = replace(
        resources.settings, public_url=PUBLIC.public_url, house_network=PUBLIC.house_network
    )
    return replace(resources, settings=settings)


def statuses(hub: Resources) -> dict[str, str]:
    with hub.database.reading() as session:
        return {
            bot.name: bot.status for bot in session.scalars(select(Bot).where(Bot.kind == "url"))
        }


def test_schedulers_and_an_operator_begin_a_new_site_at_once(public: Resources) -> None:
    def begin(number: int) -> None:
        if number % 2:
            with public.database.writing() as session:
                new = NewBot(GAME, f"Service-{number}", f"http://127.0.0.1:808{number}")
                house.add_service(session, public, new, SECRET)
        else:
            begin_site(public)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(begin, range(6)))
    with public.database.reading() as session:
        assert len(session.scalars(select(User)).all()) == 1
        assert len(rated_service.rated_competitions(session)) == 1
        names = session.scalars(select(Bot.name).where(Bot.game == GAME)).all()
    own = {house.house_name(GAME, strategy) for strategy in load_strategies(GAME)}
    assert sorted(names) == sorted(own | {"Service-1", "Service-3", "Service-5"})


def test_a_network_of_the_house_is_for_nobody_else() -> None:
    inside, outside = "http://127.0.0.1:8080", "http://10.1.2.3"
    assert address_problem(inside, PUBLIC) == INSECURE
    assert address_problem(inside.replace("http", "https"), PUBLIC) == INTERNAL
    assert address_problem(inside, PUBLIC, is_house=True) == ""
    assert address_problem(outside, PUBLIC, is_house=True) == INTERNAL
    assert isolation_of(PUBLIC, house=["ours"]).house == ("ours",)
    assert isolation_of(HubSettings(public_url="https://h.example"), house=["ours"]).house == ()


def test_a_service_is_added_checked_and_moved(public: Resources, service: str) -> None:
    new = NewBot(GAME, "Rusher-2", service)
    with public.database.writing() as session:
        added = house.add_service(session, public, new, SECRET)
    assert added.secret == ""
    bots_jobs.check_bot(public, added.id)
    assert statuses(public) == {"Rusher-2": "ACTIVE"}
    with public.database.writing() as session:
        assert house.add_service(session, public, new, SECRET).id == added.id
    assert statuses(public) == {"Rusher-2": "ACTIVE"}
    for change, secret in ((new, "0" * 32), (replace(new, endpoint=f"{service}/x"), "0" * 32)):
        with public.database.writing() as session:
            house.add_service(session, public, change, secret)
        assert statuses(public) == {"Rusher-2": "PENDING"}
        bots_jobs.check_bot(public, added.id)
        assert statuses(public) == {"Rusher-2": "INACTIVE"}


def test_a_player_cannot_have_a_bot_there(public: Resources, service: str) -> None:
    with public.database.writing() as session:
        ada = accounts_service.register(session, "ada", "ada@example.org", "x")[0]
        secure = service.replace("http:", "https:")
        theirs = bots_service.register(session, public.sealer, ada, NewBot(GAME, "Ada-1", secure))
        with pytest.raises(NameTaken):
            house.add_service(session, public, NewBot(GAME, "ADA-1", service), SECRET)
    bots_jobs.check_bot(public, theirs.id)
    assert statuses(public) == {"Ada-1": "INACTIVE"}
    with public.database.writing() as session, pytest.raises(UsernameTaken):
        accounts_service.register(session, HOUSE.upper(), "h@example.org", "x")


def test_in_one_match_each_bot_is_asked_where_it_may_be(public: Resources, service: str) -> None:
    """A bot of the site is reached within, and one of a player at the same address is not."""
    with public.database.writing() as session:
        ada = accounts_service.register(session, "ada", "ada@example.org", "x")[0]
        theirs = bots_service.register(session, public.sealer, ada, NewBot(GAME, "Ada-1", service))
        ours = house.add_service(session, public, NewBot(GAME, "Rusher-2", service), SECRET)
        seats = (Seat("Ada-1", theirs.id), Seat("Rusher-2", ours.id))
        match = plan(session, Plan("practice", "one", GAME, seats, {"max_turns": 3}, seed=1))
    with public.database.writing() as session:
        claim = MATCH_TYPES.claim(session, match, "me", LOST_AFTER)
    assert claim is not None
    spec = spec_of(claim, public.settings)
    assert spec.isolation.house == ("Rusher-2",)
    secrets: Secrets = {
        name: {"secret": SECRET, "api_key": SECRET} for name in ("Ada-1", "Rusher-2")
    }
    result = asyncio.run(run_match(spec, secrets=secrets))
    assert {fault.bot for fault in result.faults} == {0}
    assert "the address of a bot must begin with https://" in result.faults[0].detail


def test_what_is_no_service_is_refused_in_a_sentence(
    public: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = public.settings
    for name, value in {
        "CW_DATA": str(settings.data),
        "CW_DATABASE_URL": settings.database_url,
        "CW_MASTER_KEYS": settings.master_keys,
        "CW_SECRET_KEY": settings.secret_key,
        "CW_PUBLIC_URL": settings.public_url,
        "CW_HOUSE_NETWORK": "10.7.0.0/16",
    }.items():
        monkeypatch.setenv(name, value)

    def add(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["hub", "bot", "add", *words])
        return result.exit_code, result.output

    assert add("chess", "Rusher-2", "http://10.7.0.1")[0] == 2
    assert "3 to 32" in add(GAME, "R 2", "http://10.7.0.1")[1]
    assert "CW_HOUSE_NETWORK" in add(GAME, "Rusher-2", "http://10.8.0.1")[1]
    assert "base address" in add(GAME, "Rusher-2", "http://10.7.0.1/?x=1")[1]
    assert "32 characters" in add(GAME, "Rusher-2", "http://10.7.0.1", "--secret", "short")[1]
    assert statuses(public) == {}
    code, output = add(GAME, "Rusher-2", "http://10.7.0.1")
    assert (code, len(output.partition("BOT_SECRET=")[2])) == (0, 65)
    assert "BOT_SECRET" not in add(GAME, "Rusher-2", "http://10.7.0.2")[1]
