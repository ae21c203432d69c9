"""A worker on a host of its own loses its network past its lease, and comes back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from cw.games.registry import load_game
from cw.replays.document import decode
from cw.replays.verify import verify
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.stored_replays import viewed_key
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import read_settings
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Battle, Match
from cw_hub.store.objects import file_at
from hub.tests.campaign import Role, is_done, on_services, roles, wait_until
from hub.tests.gates import gate
from hub.tests.services import PostgreSQL, Redis
from hub.tests.soak.hosts import SERVICES, hosts

pytestmark = pytest.mark.thorough

GAME = "hexagon"


def plan(resources: Resources, key: str, opponent: str) -> None:
    seats = (Seat("held", spec=opponent), Seat("house", spec="builtin:random"))
    options = {"size": 4, "timeout": 600}
    with resources.database.writing() as session:
        planning.plan(session, Plan("practice", key, GAME, seats, options))


def the(resources: Resources, key: str, what: Callable[[Match], bool]) -> bool:
    """Return whether something holds of a match."""
    with resources.database.reading() as session:
        return what(session.scalars(select(Match).where(Match.key == key)).one())


def test_a_worker_that_was_cut_off_past_its_lease_counts_nothing_twice(tmp_path: Path) -> None:
    with hosts(2) as (one, two), gate(SERVICES) as at:
        postgresql, broker = PostgreSQL(tmp_path / "sql.log", SERVICES), Redis(tmp_path, SERVICES)
        with (postgresql.folder / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet trust\n")
        postgresql.start()
        broker.start()
        try:
            with closing(Database(postgresql.url)) as fresh:
                upgrade(fresh)
            environment = on_services(tmp_path / "data", postgresql.url, broker.url)
            settings = read_settings(environment)
            scheduler = Role(["scheduler"], environment, tmp_path / "scheduler.log")
            cut = Role(["worker"], environment, tmp_path / "one.log", within=one.within)
            with opened(settings, CeleryQueue(settings)) as resources, roles(scheduler, cut):
                plan(resources, "k", at.address)
                played = partial(the, resources, "k")
                wait_until(lambda: played(lambda it: it.state == "in_progress"), "the match")
                first = player_of_first(resources)
                other = Role(["worker"], environment, tmp_path / "two.log", within=two.within)
                with roles(other):
                    one.cut()
                    wait_until(lambda: played(lambda it: it.attempt == 2), "another worker")
                    assert player_of_first(resources) != first
                    one.heal()
                    at.open.set()
                    wait_until(lambda: is_done(resources, 1), "the end")
                    wait_until(lambda: "another worker now" in cut.log.read_text(), "the first one")
                    other.stop()
                    # Whose network is whole again, plays again.
                    plan(resources, "next", "builtin:greedy")
                    wait_until(lambda: is_done(resources, 2), "the next match")
                assert cut.process.poll() is None
                check(resources)
        finally:
            broker.kill()
            postgresql.remove()


def player_of_first(resources: Resources) -> str | None:
    """Return who plays the first match."""
    with resources.database.reading() as session:
        return session.scalars(select(Match.worker).where(Match.key == "k")).one()


def check(resources: Resources) -> None:
    """Hold rows and objects against each other: each match once, and nothing beside."""
    with resources.database.reading() as session:
        rows = session.scalars(select(Match).order_by(Match.id)).all()
        battles = session.scalars(select(Battle)).all()
    states = [(row.state, row.attempt, row.troubles) for row in rows]
    assert states == [("done", 2, 1), ("done", 1, 0)]
    keys = sorted(str(battle.replay_key) for battle in battles)
    assert len(keys) == 2
    assert sorted(resources.objects.keys("replays")) == keys
    for key in keys:
        data = file_at(resources.objects, viewed_key(GAME, key))
        assert data is not None
        assert verify(load_game(GAME), decode(data)) is None
