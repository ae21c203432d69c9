"""Somebody wants a better rating than earned: by leaving, crashing and coming back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Final, TypeAlias

import pytest
import requests

from cw.league.glicko2 import Rating
from hub.tests.attacks.hubs import BY_THE_RULES, RATED, Hub, Player, open_hub, zipped
from hub.tests.attacks.ledger import KIT, OPEN, SLOW, Ledger, in_openings, opened_ledger
from hub.tests.campaign import wait_until
from hub.tests.sites import PASSWORD, words_of
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

NEW_DEVIATION: Final = Rating().phi

TRIES: Final = 8
"""Where all others play, a bot has no match that waits: then it is tried with another one."""

CRASHES: Final[Mapping[str, str]] = {
    "Exits": "__import__('os')._exit(0)",
    "Floods": "[print('x' * 100000) for _ in range(1000)]",
    "Sleeps": "__import__('time').sleep(3600)",
    "Eats": "[bytearray(2**26) for _ in range(1000)]",
    "Closes": "__import__('os').close(1)",
}
"""How a bot ends at the beginning of its matches, by its name."""

LIES: Final = "print('{\"turns_left\": 999}', flush=True)"
"""What loses no match by itself: a line too many in each turn."""


@dataclass
class Farm:
    """A hub whose rated matches follow one another at once."""

    hub: Hub
    ledger: Ledger

    @contextmanager
    def without_worker(self) -> Iterator[None]:
        """Let all matches wait while the block runs; those that were played are played again."""
        worker = self.hub.processes[-1]
        worker.stop()
        try:
            wait_until(lambda: not self.ledger.begun(), "the matches of the worker")
            yield
        finally:
            worker.start()


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    with open_hub("roles", tmp_path_factory.mktemp("farm"), program=BY_THE_RULES) as hub:
        with opened_ledger(hub) as ledger:
            yield Farm(hub, ledger)
        # Rated matches go on at every moment, and change what is compared.
        for role in hub.processes:
            role.kill()
        hub.operate("ratings", "verify")
        assert "Traceback" not in hub.logs()


# Deeds of an owner whose bot waits for a match


def retire(player: Player, bot: str) -> None:
    page = f"/bot/{bot}?game={RATED}"
    answer = player.fill(f"/bot/{bot}/retire?game={RATED}", on=page, confirm=bot)
    assert answer.status_code == 303


def delete_account(player: Player, _: str) -> None:
    player.fill("/settings/delete", on="/settings", password=PASSWORD)
    assert not player.is_player()


def upload(player: Player, bot: str) -> None:
    form = {"csrf_token": player.token(f"/bot/{bot}?game={RATED}"), "game": RATED}
    files = {"program": ("bot.zip", zipped(in_openings(CRASHES["Exits"])))}
    assert player.send_form(f"/bot/{bot}/upload", form, files=files).status_code == 303


def suspend_itself(player: Player, bot: str) -> None:
    """Try what only admins may do, by pages and by a token of one's own."""
    answer = player.open(f"/api/v1/bots?owner={bot.lower()}").json()
    (bot_id,) = [row["bot_id"] for row in answer["items"] if row["name"] == bot]
    page = f"/bot/{bot}?game={RATED}"
    for verb in ("suspend", "restore"):
        for name in (bot, bot_id):
            more = {"reason": "I lose", "sure": "yes"}
            assert player.fill(f"/bot/{name}/{verb}", on=page, **more).status_code == 403
    about = {"token_name": "own", "days": "30", "bots": "y", "token_password": PASSWORD}
    made = player.fill("/settings/tokens", on="/settings", **about)
    token = made.text.partition("<textarea")[2].partition(">")[2].partition("<")[0]
    for verb in ("suspend", "restore"):
        refused = requests.post(
            f"{player.address}/api/v1/bots/{bot_id}/{verb}",
            json={"reason": "I lose"} if verb == "suspend" else None,
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
        assert refused.status_code == 403, refused.text


Deed: TypeAlias = Callable[[Player, str], None]
LEAVING: Final[tuple[Deed, ...]] = (retire, delete_account)
DEEDS: Final[tuple[Deed, ...]] = (*LEAVING, upload, suspend_itself)


def test_nothing_that_an_owner_does_calls_a_match_off(farm: Farm) -> None:
    def enter(deed: Deed, number: int) -> tuple[Player, str]:
        bot = f"{deed.__name__.replace('_', '')}{number}"
        player = farm.hub.player(bot)
        farm.ledger.enter(player, bot, SLOW)
        matches = farm.ledger.matches
        wait_until(lambda: any(matches(bot, state) for state in OPEN), f"a match of {bot}")
        return player, bot

    tried: dict[Deed, tuple[str, int]] = {}
    for number in range(TRIES):
        left = [deed for deed in DEEDS if deed not in tried]
        if not left:
            break
        with ThreadPoolExecutor() as threads:
            entered = list(threads.map(enter, left, repeat(number)))
        with farm.without_worker():
            for deed, (player, bot) in zip(left, entered, strict=True):
                for match in farm.ledger.matches(bot, "queued"):
                    deed(player, bot)
                    tried[deed] = bot, match
    assert tried.keys() == {*DEEDS}
    for deed, (bot, match) in tried.items():
        farm.ledger.wait_for_end(match)
        if deed in LEAVING:
            ranks = farm.ledger.ranks(match)
            assert ranks[bot] == max(rank or 0 for rank in ranks.values()), (bot, ranks)


def crashes(bot: str) -> bool:
    """Return whether a bot ends in its matches, by itself or since its owner's deed."""
    return bot in CRASHES or bot.startswith(upload.__name__)


def test_whoever_crashes_at_will_loses(farm: Farm) -> None:
    for bot, deed in {**CRASHES, "Lies": LIES}.items():
        farm.ledger.enter(farm.hub.player(bot.lower()), bot, in_openings(deed))
    farm.ledger.wait_for_end(farm.ledger.next_match("Lies", "done"))
    for bot in CRASHES:
        match = farm.ledger.next_match(bot, "done")
        farm.ledger.wait_for_end(match)
        ranks = farm.ledger.ranks(match)
        others = [rank for name, rank in ranks.items() if not crashes(name)]
        assert all((ranks[bot] or 0) >= (rank or 0) for rank in others), (bot, ranks)
    assert farm.ledger.called_off() == []


def test_no_rating_is_shed_or_taken_over(farm: Farm) -> None:
    """Neither the name of a deleted account nor that of a bot can be had again."""
    player = farm.hub.player("shedder")
    farm.ledger.enter(player, "Shedder", KIT)
    farm.ledger.wait_for_end(farm.ledger.next_match("Shedder", "done"))
    upload(player, "Shedder")
    retire(player, "Shedder")
    deviation = farm.ledger.deviation("Shedder")
    assert deviation < NEW_DEVIATION
    for same in ("Shedder", "SHEDDER"):
        assert "This bot name is already taken" in words_of(player.send_program(same, KIT))
    delete_account(player, "")
    for name in ("shedder", "Shedder"):
        again = farm.hub.visitor().register(name, email="other@example.org")
        assert "This username is already taken" in words_of(again)
    other = farm.hub.player("shedder2")
    assert "This bot name is already taken" in words_of(other.send_program("Shedder", KIT))
    assert farm.ledger.deviation("Shedder") <= deviation


def test_bots_of_one_account_never_meet_and_other_matches_do_not_count(farm: Farm) -> None:
    twin, ann = farm.hub.player("twin"), farm.hub.player("ann")
    for player, bot in ((twin, "TwinA"), (twin, "TwinB"), (ann, "Ann")):
        farm.ledger.enter(player, bot, KIT)
    for bot in ("TwinA", "TwinB", "Ann"):
        farm.ledger.next_match(bot, "done")
    # Rated matches come first, and these bots never rest.
    farm.hub.operate("competition", "pause", f"rated/{RATED}")
    page = f"/bot/Ann?game={RATED}"
    form = {"game": RATED, "own": "TwinA", "matches": "1"}
    assert twin.fill("/bot/Ann/challenge", on=page, **form).status_code == 303
    wait_until(lambda: farm.ledger.unrated() == 1, "a challenge")
    test = f"/bot/Ann/test-match?game={RATED}"
    assert ann.fill(test, on=page, opponent="random").status_code == 303
    wait_until(lambda: farm.ledger.unrated() == 2, "a test match")
    farm.hub.operate("competition", "resume", f"rated/{RATED}")
    assert farm.ledger.meetings_of_one_owner() == []
