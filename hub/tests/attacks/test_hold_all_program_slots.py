"""Three accounts want all places in which programs run: rated matches of others go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from cw import kits
from cw_hub.operation.settings import read_settings
from cw_hub.store.database import Database
from cw_hub.store.models import Match, WorkshopTask
from hub.tests.attacks.hubs import RATED, SHAPES, Hub, Player, open_hub
from hub.tests.bots.workshop.test_drafts import Window
from hub.tests.campaign import wait_until
from tests.tools import NEEDS_BUBBLEWRAP
from tests.web.workshop.test_runs import paint

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

KIT = {name: file.read_bytes() for name, file in kits.files(RATED, "python").items()}

SLOW = paint("import time; time.sleep(50)\nreturn ('walk', (0, 1))")
"""Takes nearly all the time that it has for each turn: a match of it lasts longer than any test."""

WALKER = paint("return ('walk', (0, 1))")

ENOUGH = 5
"""Rated matches that must be played while the attackers play one slow one."""


@dataclass
class Busy:
    """A hub where two programs play rated matches one after the other."""

    hub: Hub
    database: Database

    def rated(self) -> int:
        """Return how many rated matches have been played."""
        with self.database.reading() as session:
            done = select(func.count()).where(Match.kind == "rated", Match.state == "done")
            return session.scalars(done).one()

    def running(self) -> int:
        """Return how many tasks of the workshop run."""
        with self.database.reading() as session:
            tasks = select(func.count()).where(WorkshopTask.state == "running")
            return session.scalars(tasks).one()


@pytest.fixture(params=SHAPES)
def busy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Busy]:
    with open_hub(request.param, tmp_path) as hub:
        hub.operate("competition", "set", f"rated/{RATED}", "rest=0")
        settings = read_settings(hub.environment)
        with closing(Database(settings.database)) as database:
            busy = Busy(hub, database)
            for name in ("Ada", "Bob"):
                player = hub.player(name.lower())
                assert player.send_program(name, KIT).status_code == 303
                player.checked(name)
                assert player.status(name) == "ACTIVE"
            wait_until(lambda: busy.rated() > 0, "a rated match")
            yield busy


class Author(Window):
    """Somebody who writes a bot."""

    def __init__(self, player: Player, bot: str) -> None:
        super().__init__(player, f"/workshop/{RATED}/")
        self.player = player
        base = self.files()["bot.py"]["digest"]
        assert self.save("bot.py", bot, base).status_code == 200

    def begin(self, kind: str, **wanted: int) -> None:
        assert self.post(kind, {"opponent": "random", **wanted}).status_code == 201

    def run(self) -> Any:
        headers = {"Accept": "application/json"}
        return self.visitor.open(f"{self.page}run", headers=headers).json()


def test_rated_matches_go_on_beside_series_and_checks_of_three_accounts(busy: Busy) -> None:
    attackers = [Author(busy.hub.player(name), SLOW) for name in ("eve", "mallory", "trudy")]
    for attacker in attackers:
        attacker.begin("series", matches=400)
    wait_until(lambda: busy.running() > 0, "a series")
    for number, attacker in enumerate(attackers):
        program = {**KIT, "bot.py": SLOW.encode()}
        assert attacker.player.send_program(f"Slow{number}", program).ok
    enough = busy.rated() + ENOUGH
    wait_until(lambda: busy.rated() >= enough, "rated matches")


def test_a_run_begins_beside_the_rated_matches_of_others(busy: Busy) -> None:
    author = Author(busy.hub.player("author"), WALKER)
    author.begin("run", seed=1)
    wait_until(lambda: not author.run()["goes_on"], "the run")
    assert not author.run()["failed"], author.run()["words"]
