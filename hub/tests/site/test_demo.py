"""A hub that is filled for a demonstration, and the lock on its folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select

from cw.errors import UsageError
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.service import Passwords
from cw_hub.competitions.tournament import format as tournament_format
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import PLAY, send_own
from cw_hub.operation.resources import Resources
from cw_hub.operation.settings import HubSettings
from cw_hub.site import demo
from cw_hub.site.demo import FINAL_AFTER, OVER_AFTER
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import folder_locked, jobs_of
from cw_hub.store.models import Bot, Competition, Match
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site, words_of


def test_a_hub_is_filled_once(resources: Resources) -> None:
    password = demo.fill(resources)
    with resources.database.reading() as session:
        account = accounts_service.find_account(session, demo.PEOPLE[0])
        assert account is not None
        assert Passwords().fits(password, account.password_hash)
        names = set(session.scalars(select(Bot.name)))
        assert {bot.name for bot in demo.BOTS} <= names
        matches = session.scalars(select(func.count()).select_from(Match)).one()
    assert demo.fill(resources) == password
    with resources.database.reading() as session:
        assert set(session.scalars(select(Bot.name))) == names
        assert session.scalars(select(func.count()).select_from(Match)).one() == matches


@pytest.mark.thorough
@ON_SQLITE
def test_one_tournament_is_planned_one_runs_on_and_one_is_soon_over(site: Site) -> None:
    resources = site.resources
    demo.fill(resources)
    assert states_of(site) == dict.fromkeys(
        ("circuit-cup", "hexagon-duel", "paint-league"), "draft"
    )
    for seconds in (0, FINAL_AFTER.seconds, OVER_AFTER.seconds):
        site.clock.advance(seconds)
        play_round(site)
    assert states_of(site) == {
        "circuit-cup": "draft",
        "hexagon-duel": "over",
        "paint-league": "running",
    }
    places = words_of(site.visitor().open("/t/hexagon-duel/"))
    assert "Final result Place 1" in places


def states_of(site: Site) -> dict[str, str]:
    """Return the state of each tournament by its slug."""
    query = select(Competition.slug, Competition.state).where(
        Competition.format == tournament_format.FORMAT.name
    )
    with site.resources.database.reading() as session:
        return {row.slug: row.state for row in session.execute(query)}


def play_round(site: Site) -> None:
    """Plan what is due in tournaments, play it, and take in how it has ended."""
    jobs = jobs_of(Worker("me", 1, MATCH_TYPES))
    for _ in range(2):
        with site.resources.database.writing() as session:
            tournament_format.FORMAT.plan(session)
        send_own(site.resources, MATCH_TYPES.sendings)
        while site.queue.jobs:
            job, arguments, _ = site.queue.jobs.pop(0)
            if job == PLAY:
                jobs[job](site.resources, *arguments)
            send_own(site.resources, MATCH_TYPES.sendings)


def test_a_folder_has_one_process(tmp_path: Path) -> None:
    settings = HubSettings(data=tmp_path)
    with (
        folder_locked(settings),
        pytest.raises(UsageError, match="another process uses the folder"),
        folder_locked(settings),
    ):
        pass
