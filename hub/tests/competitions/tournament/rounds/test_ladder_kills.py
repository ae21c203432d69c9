"""Ladders are as undisturbed ones, whatever is killed: real processes, and rounds that go on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select

from cw.league.ladder import POINTS
from cw_hub.context import utc_now
from cw_hub.matches.stored_replays import objects_of
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings, read_settings
from cw_hub.store.database import Database
from cw_hub.store.migrations import upgrade
from cw_hub.store.models import Battle, Match, Round, RoundScore, Team
from hub.tests.campaign import HASTY, KILLS, Role, on_services, roles, wait_until
from hub.tests.ladder_hub import Tournament, totals_by_replays
from hub.tests.services import new_postgresql, new_redis

TEAMS = {"a": "greedy", "b": "random", "c": "constant", "d": "random", "e": "greedy", "ours": ""}
MATCHES = 15
"""Of a round."""

Totals = dict[tuple[int, str], tuple[float, float, int]]


def new_tournament(resources: Resources) -> Tournament:
    return Tournament(
        resources,
        {"grodno": TEAMS},
        {"boards": [{"name": "Hexagon 5", "options": {"size": 5}, "factor": 3}]},
    )


def ladder_of(hub: Tournament, rounds: int) -> Totals:
    """Return points, total and position of each team in the first rounds."""
    figures = (RoundScore.points, RoundScore.total, RoundScore.position)
    query = (
        select(Round.number, Team.slug, *figures)
        .join(Round, Round.id == RoundScore.round_id)
        .join(Team, Team.id == RoundScore.team_id)
        .where(Round.number <= rounds)
    )
    with hub.resources.database.reading() as session:
        return {
            (number, slug): (points, total, position)
            for number, slug, points, total, position in session.execute(query)
        }


def undisturbed(folder: Path, rounds: int) -> Totals:
    """Return the ladder of rounds that are played here, one match after the other."""
    settings = HubSettings(data=folder)
    with opened(settings, CeleryQueue(settings), utc_now) as resources:
        hub = new_tournament(resources)
        hub.happens("start")
        hub.play(most=MATCHES * rounds)
        assert hub.totals("grodno") == totals_by_replays(hub, "grodno", POINTS)
        return ladder_of(hub, rounds)


def over(hub: Tournament, rounds: int) -> int:
    """Return how many matches of the first rounds are done."""
    with hub.resources.database.reading() as session:
        done = select(func.count()).select_from(Match).join(Round, Round.id == Match.round_id)
        return session.scalar(done.where(Match.state == "done", Round.number <= rounds)) or 0


def is_over(hub: Tournament, rounds: int, least: float) -> bool:
    return over(hub, rounds) >= least


def strike_in_rounds(
    hub: Tournament, rounds: int, strokes: int, strike: Callable[[], None]
) -> Totals:
    """Strike again and again while rounds are played, evenly over them; return their ladder."""
    number = MATCHES * rounds
    hub.happens("start")
    for stroke in range(strokes):
        least = number * (stroke + random.random()) / (strokes + 1)
        wait_until(partial(is_over, hub, rounds, least), "the next stroke")
        strike()
    wait_until(partial(is_over, hub, rounds, number), "the end")
    wait_until(lambda: len(ladder_of(hub, rounds)) == len(TEAMS) * rounds, "the points")
    return ladder_of(hub, rounds)


def check_matches(hub: Tournament, rounds: int) -> None:
    """Each match was played once, in two battles, and has its replays."""
    known = set(hub.resources.objects.keys("replays"))
    for match in hub.matches():
        if match.round_id is None or match.state != "done":
            continue
        battles: list[Battle] = hub.read(select(Battle).where(Battle.match_id == match.id))
        assert sorted(battle.first_slot for battle in battles) == [0, 1]
        keys = {battle.replay_key or "" for battle in battles}
        assert len(keys) == 2
        assert all(objects_of(key)[0] in known for key in keys)
    states = Counter(
        match.state for number in range(1, rounds + 1) for match in hub.matches(number)
    )
    assert states == {"done": MATCHES * rounds}


@contextmanager
def hub_on(environment: dict[str, str]) -> Iterator[Tournament]:
    """Open a hub that is served by others, with a tournament that has not begun."""
    settings = read_settings(environment)
    with opened(settings, CeleryQueue(settings)) as resources:
        yield new_tournament(resources)


def play_alone(folder: Path, rounds: int, strokes: int) -> None:
    """Kill a hub in one process while rounds are played."""
    environment = {"CW_DATA": str(folder / "data"), **HASTY}
    with hub_on(environment) as hub:
        server = Role(["serve", "--port", "0"], environment, folder / "hub.log")
        with roles(server):

            def strike() -> None:
                server.kill()
                server.start()

            strokes_done = strike_in_rounds(hub, rounds, strokes, strike)
        check_matches(hub, rounds)
    assert strokes_done == undisturbed(folder / "undisturbed", rounds)


def play_on_services(folder: Path, rounds: int, strokes: int) -> None:
    """Kill the worker of a hub of several processes while rounds are played."""
    with new_postgresql() as database, new_redis(folder) as broker:
        with closing(Database(database)) as empty:
            upgrade(empty)
        environment = on_services(folder / "data", database, broker)
        with hub_on(environment) as hub:
            worker = Role(
                ["worker", "--slots", "2", "--kinds", "tournament"],
                environment,
                folder / "worker.log",
            )
            scheduler = Role(["scheduler"], environment, folder / "scheduler.log")
            with roles(worker, scheduler):

                def strike() -> None:
                    worker.kill()
                    worker.start()

                strokes_done = strike_in_rounds(hub, rounds, strokes, strike)
            check_matches(hub, rounds)
    assert strokes_done == undisturbed(folder / "undisturbed", rounds)


@pytest.mark.thorough
def test_a_hub_in_one_process_is_killed_in_its_rounds(tmp_path: Path) -> None:
    play_alone(tmp_path, 2, (KILLS + 1) // 2)


@pytest.mark.thorough
def test_a_worker_is_killed_in_rounds(tmp_path: Path) -> None:
    play_on_services(tmp_path, 2, (KILLS + 1) // 2)
