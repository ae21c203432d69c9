"""A new player's way into a daily game, in a real Chromium, with bots of the kits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from cw.games.end_of_codes.protocol import PASSED, TEXTS
from cw_hub.competitions.daily.service import GameIsOpen
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import read_settings
from hub.tests import patience
from hub.tests.campaign import HASTY, Role, roles, run, wait_until
from hub.tests.daily_hub import Hub
from hub.tests.served_bots import Bots, serving_bots
from hub.tests.sites import PASSWORD, Visitor
from tests.browser.conftest import watch
from tests.kits.running import Kit, build, serving
from tests.tools import require

pytestmark = pytest.mark.thorough

GAME = "end-of-codes"
OTHERS = {"bob": "python", "cid": "javascript", "dan": "ruby"}
SMALL = {"M": 4, "MAX_HP": 2, "max_rounds": 40, "timeout": 60}
SLOWLY = 120_000
"""Milliseconds in which what the hub does must be seen."""

RIGHT = "return array_values(array_filter($intents));"
WRONG = """
        if ($game->round === 3) {
            return array_map(fn ($one) => ['action' => 'fly'] + move($one, 'up'), $game->mine());
        }
"""
"""What makes the PHP kit break in round 3."""


@dataclass
class Served:
    """A hub that is served by a process of its own."""

    hub: Hub
    address: str
    environment: dict[str, str]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    environment = {"CW_DATA": str(tmp_path / "data"), **HASTY}
    settings = read_settings(environment)
    with opened(settings, CeleryQueue(settings)) as resources:
        hub = Hub(resources, SMALL)
        hub.rest_elsewhere()
        log = tmp_path / "hub.log"
        role = Role(["serve", "--port", "0"], environment, log, program=patience.PROGRAM[1:])
        with roles(role):
            wait_until(lambda: "Hub: " in role.log.read_text(), "the hub")
            match = re.search(r"Hub: (\S+)/", role.log.read_text())
            assert match
            yield Served(hub, match[1], environment)


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kit]:
    languages = ("php", *OTHERS.values())
    for language in languages:
        require(language)
    folder = tmp_path_factory.mktemp("kits")
    return {language: build(GAME, language, folder / language) for language in languages}


def key_on(page: str) -> str:
    match = re.search(r'id="api-key" value="([0-9a-f]{32})"', page)
    assert match
    return match[1]


@contextmanager
def configured(served: Served, name: str, kit: Kit) -> Iterator[None]:
    """Register a player with a bot of a kit, which takes requests with its key only."""
    visitor = Visitor(served.address)
    assert visitor.register(name).status_code == 303
    key = key_on(visitor.open("/bots/end-of-codes").text)
    with serving(kit, API_KEY=key, BOT_USERNAME=name) as bot:
        address = f"http://127.0.0.1:{bot.port}"
        answer = visitor.fill("/bots/end-of-codes", endpoint=address, form="urlencoded")
        assert answer.status_code == 303
        yield


def test_a_new_player_comes_into_a_game_and_learns_what_went_wrong(
    served: Served, kits: dict[str, Kit], browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    watcher = watch(context)
    page, hub = watcher.page, served.hub
    page.set_default_timeout(SLOWLY)
    with ExitStack() as stack:
        for name, language in OTHERS.items():
            stack.enter_context(configured(served, name, kits[language]))
        slow = stack.enter_context(serving_bots())
        hub.player("eve", slow.at("eve"))

        register(page, served.address, "Ada")
        page.get_by_role("link", name="You have not set up your bot yet.").click()
        key = page.get_by_label("API key").input_value()
        bot = stack.enter_context(serving(kits["php"], API_KEY=key, BOT_USERNAME="Ada"))
        page.get_by_label("Bot URL").fill(f"http://127.0.0.1:{bot.port}")
        page.get_by_role("button", name="Save bot settings").click()
        expect(page.get_by_text("Your bot is correctly configured")).to_be_visible(timeout=SLOWLY)
        assert page.locator(".checks li.good span:last-child").all_inner_texts() == list(PASSED)

        page.goto(f"{served.address}/ranking")
        expect(page.get_by_text("Your bot is working correctly")).to_be_visible(timeout=SLOWLY)
        with slow.held_at("round", 3) as hold:
            begun = run("competition", "run", GAME, **served.environment)
            assert begun.returncode == 0, begun.stderr
            hold.wait()
            expect(page.get_by_text("Game is currently running")).to_be_visible(timeout=SLOWLY)
            with pytest.raises(GameIsOpen):
                hub.begin()
        page.get_by_role("link", name="Show it").click()
        check_first_game(page, hub, slow)

        break_in_round_3(kits["php"])
        bot.stop()
        environment = {"API_KEY": key, "BOT_USERNAME": "Ada", "PORT": str(bot.port)}
        stack.enter_context(serving(kits["php"], **environment))
        hub.begin()
        wait_until(lambda: [game.state for game in hub.games()] == ["done"] * 2, "the second game")
        page.goto(f"{served.address}/bots/end-of-codes")
        expect(page.locator(".words.bad")).to_contain_text(
            "Your bot sent an incorrect action: fly in round 3"
            " and your creatures were killed by the grader"
        )
        page.get_by_role("button", name="New key").click()
        # The bot still asks for the old one.
        expect(page.locator(".checks li.bad")).to_contain_text(TEXTS[3], timeout=SLOWLY)
        assert page.locator(".checks li.good").count() == 3
    assert watcher.complaints == []
    context.close()


def register(page: Page, address: str, name: str) -> None:
    """Fill the form for a new account, which leads to the Ranking page."""
    page.goto(f"{address}/register")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (repeat)").fill(PASSWORD)
    page.get_by_label("E-mail").fill(f"{name.lower()}@example.org")
    page.get_by_role("button", name="Register").click()
    page.wait_for_url("**/ranking")


def check_first_game(page: Page, hub: Hub, slow: Bots) -> None:
    """Hold the Ranking page of Ada, her graph and the map against what was played."""
    (game,) = hub.games()
    ranks = {seat.name: seat.rank for seat in hub.seats()}
    assert set(ranks) == {"Ada", "eve", *OTHERS}
    assert None not in ranks.values()
    assert {one.gameid for one in slow.asked if one.request != "bot"} == {game.id}
    mine = page.locator("#ranking tr").filter(has_text="Ada")
    expect(mine).to_contain_text("you")
    expect(mine.get_by_role("cell").first).to_have_text(str(ranks["Ada"]))
    page.get_by_text("Show as table").click()
    expect(page.locator("#points tr")).to_have_attribute("data-rank", str(ranks["Ada"]))
    site = page.url.removesuffix("/ranking")
    page.goto(f"{site}/match/{game.id}")
    page.wait_for_url(f"{site}/match/{game.match_id}*")
    expect(page.locator("#turn")).to_have_text("0")
    expect(page.locator("#turns")).to_have_text(str(game.turn), timeout=SLOWLY)


def break_in_round_3(kit: Kit) -> None:
    """Let a bot of the PHP kit say a word that is none in round 3."""
    program = kit.folder / "bot.php"
    text = program.read_text(encoding="utf-8")
    assert RIGHT in text
    program.write_text(text.replace(RIGHT, WRONG + RIGHT), encoding="utf-8")
