"""Clients of Circuit Wars on a hub: judged on the board that is played, under ids of their own."""

from __future__ import annotations

from typing import Any

import pytest
import requests
from sqlalchemy import select

from cw.arena.sandbox import bubblewrap
from cw_hub.competitions.rated import pairing
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import PLAY, send_due
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import jobs_of
from cw_hub.store.models import Bot, Match, MatchParticipant
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site, Visitor
from tests import seed_clients

pytestmark = [
    pytest.mark.skipif(bubblewrap.problem() is not None, reason="there is no bubblewrap"),
    ON_SQLITE,
]

JOBS = jobs_of(Worker("me", 1, MATCH_TYPES))
SOURCE = seed_clients.QUICK_PYTHON.encode()


def register(visitor: Visitor, name: str, source: bytes = SOURCE) -> requests.Response:
    """Register a bot by its program, as the page does."""
    form = {"csrf_token": visitor.token("/bots/new"), "game": "circuit-wars", "name": name}
    return visitor.send_form("/bots/new/program", form, files={"program": ("game_ai.py", source)})


def do_jobs(site: Site) -> int:
    """Do what waits in the queue; return how many matches were played."""
    played = 0
    while site.queue.jobs:
        job, arguments, _ = site.queue.jobs.pop(0)
        JOBS[job](site.resources, *arguments)
        played += job == PLAY
    return played


def bot_of(site: Site, name: str) -> tuple[str, list[Any]]:
    """Return the status of a bot, and the steps of its check that were not fine."""
    with site.resources.database.reading() as session:
        bot = session.scalars(select(Bot).where(Bot.name == name)).one()
        return bot.status, [step for step in bot.checks or [] if not step["ok"]]


def test_a_client_of_the_assignment_is_active_with_warnings_and_plays(site: Site) -> None:
    site.open_competition("circuit-wars")
    ann = site.player("ann")
    site.queue.jobs.clear()
    assert register(ann, "Seven").status_code == 303
    do_jobs(site)
    status, notes = bot_of(site, "Seven")
    assert status == "ACTIVE"
    assert [step["warning"] for step in notes] == [True] * 3
    page = ann.open("/bot/Seven?game=circuit-wars")
    assert "plays on the smallest board" in page.text
    bob = site.player("bob")
    site.queue.jobs.clear()
    assert register(bob, "Eight").status_code == 303
    do_jobs(site)
    site.clock.advance(3600)
    with site.resources.database.writing() as session:
        pairing.plan(session)
    send_due(site.resources, MATCH_TYPES.sendings)
    assert do_jobs(site) >= 1
    with site.resources.database.reading() as session:
        rows = select(Match.match_id, MatchParticipant.name, MatchParticipant.faults).join(Match)
        seats = session.execute(rows.where(Match.state == "done")).all()
    # House bots may play, too.
    assert {"Eight", "Seven"} <= {name for _, name, _ in seats}
    assert len(seats) == 2 * len({match for match, _, _ in seats})
    assert all(faults == [] for _, _, faults in seats)


def test_a_client_is_judged_by_the_options_of_its_competition(site: Site) -> None:
    site.open_competition("circuit-wars", options={"size": 5})
    ann = site.player("ann")
    site.queue.jobs.clear()
    assert register(ann, "Seven").status_code == 303
    do_jobs(site)
    status, (failed,) = bot_of(site, "Seven")
    assert status == "INACTIVE"
    assert failed["step"] == "plays a whole match as player 1"
    assert "IndexError" in failed["problem"]
