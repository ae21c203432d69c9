"""Whoever is about to lose deletes the account, the bot or the contest in the middle of a match."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeAlias

import pytest

from hub.tests.attacks.hubs import RATED, SHAPES, Hub, Player, open_hub
from hub.tests.attacks.ledger import SLOW, Ledger, opened_ledger
from hub.tests.sites import PASSWORD, words_of
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

TRIES: Final = 5
"""On a slow machine a match may be over before the deed: then it is tried again."""

Deed: TypeAlias = Iterator[None]
"""What is prepared before the match, done in its middle, and undone after it."""


@dataclass
class Arena:
    """A hub whose rated matches follow one another at once, and its admin."""

    hub: Hub
    ledger: Ledger
    admin: Player

    def set_paused(self, verb: str, state: str) -> None:
        """Let the competition rest, or go on."""
        path = f"/admin/rated/{RATED}/{verb}"
        self.admin.fill(path, on=f"/admin/competitions?q={RATED}", sure="yes")
        assert self.ledger.is_competition(state)


@pytest.fixture(scope="module", params=SHAPES)
def arena(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Arena]:
    with open_hub(request.param, tmp_path_factory.mktemp("arena")) as hub:
        admin = hub.player("boss")
        hub.operate("user", "admin", "boss")
        with opened_ledger(hub) as ledger:
            yield Arena(hub, ledger, admin)


def delete_account(_arena: Arena, player: Player, _name: str) -> Deed:
    yield
    player.fill("/settings/delete", on="/settings", password=PASSWORD)
    assert not player.is_player()


def have_the_account_deleted(arena: Arena, player: Player, name: str) -> Deed:
    # The command starts more slowly than a match is played.
    with arena.hub.asked("user", "delete", name) as confirm:
        yield
        confirm()
        assert not player.is_player()


def retire_and_come_back(_arena: Arena, player: Player, name: str) -> Deed:
    yield
    page = f"/bot/{name}?game={RATED}"
    answer = player.fill(f"/bot/{name}/retire?game={RATED}", on=page, confirm=name)
    assert answer.status_code == 303
    for same in (name, name.upper()):
        answer = player.send_program(same, SLOW)
        assert answer.status_code == 422
        assert "This bot name is already taken" in words_of(answer)


def be_locked_and_have_all_paused(arena: Arena, player: Player, name: str) -> Deed:
    yield
    path = f"/admin/people/{name}/lock"
    assert arena.admin.fill(path, on="/admin/people", sure=name).status_code == 303
    assert not player.is_player()
    arena.set_paused("pause", "paused")
    yield
    arena.set_paused("resume", "running")


DEEDS: Final = (
    delete_account,
    have_the_account_deleted,
    retire_and_come_back,
)


def try_in_the_middle(arena: Arena, begin: Callable[[Arena, Player, str], Deed]) -> int:
    """Do a deed in the middle of a match of a new bot; return the match once it is over."""
    for number in range(TRIES):
        name = f"{begin.__name__.replace('_', '')[:20]}{number}"
        player = arena.hub.player(name)
        deed = begin(arena, player, name)
        next(deed)
        arena.ledger.enter(player, name, SLOW)
        match = arena.ledger.next_match(name, "in_progress")
        next(deed, None)
        was_in_time = arena.ledger.state(match) == "in_progress"
        arena.ledger.wait_for_end(match)
        next(deed, None)
        if was_in_time:
            return match
    pytest.fail(f"{TRIES} matches were over before {begin.__name__}")


def test_a_match_goes_on_and_counts(arena: Arena) -> None:
    hub = arena.hub
    with ThreadPoolExecutor(len(DEEDS)) as threads:
        list(threads.map(lambda deed: try_in_the_middle(arena, deed), DEEDS))
    # While all rests, nobody enters.
    try_in_the_middle(arena, be_locked_and_have_all_paused)
    hub.operate("ratings", "verify")
    for path in ("/", "/live", "/matches", "/ranking", f"/competitions/rated/{RATED}"):
        assert hub.visitor().open(path).status_code in (200, 303), path
    for row in hub.visitor().open(f"/api/v1/matches?game={RATED}&state=done").json()["items"]:
        assert hub.visitor().open(f"/match/{row['match_id']}").status_code == 200
    assert hub.is_running()
    assert "Traceback" not in hub.logs()
