"""How long a round takes on a real site, beside the time of its matches: `make soak`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import update

from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import opened
from cw_hub.operation.settings import read_settings
from cw_hub.store.models import Bot
from hub.tests.campaign import HASTY, Role, roles, wait_until
from hub.tests.competitions.tournament.test_duel import Wrong
from hub.tests.ladder_hub import Tournament

TEAMS = 20
PARALLEL = 8
BOARDS = [{"options": {"size": 3, "timeout": 10}}]


class Slow(Wrong):
    """Bots that take their time for a move, each another one, and then make one that is illegal."""

    def do_GET(self) -> None:  # noqa: N802 - as http.server has it
        time.sleep(0.8 + 0.1 * int(self.path.split("/")[1]))
        self.say({"status": "ok", "move_from": [0, 0], "move_to": [0, 0]})


class Server(ThreadingHTTPServer):
    """A server for many bots at once."""

    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing of connections that were cut."""


@contextmanager
def slow_bots() -> Iterator[str]:
    """Serve the bots; gives the address that each of them follows with its number."""
    with Server(("127.0.0.1", 0), Slow) as server:
        Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(("per_bot", "most"), [(4, 1.10), (1, 1.25)])
def test_a_round_takes_hardly_longer_than_its_matches(
    tmp_path: Path, per_bot: int, most: float
) -> None:
    environment = {"CW_DATA": str(tmp_path / "data"), **HASTY, "CW_LEASE": "60"}
    settings = read_settings(environment)
    teams = {f"team-{number}": "greedy" for number in range(TEAMS)}
    how = {"boards": BOARDS, "per_bot": per_bot, "parallel": PARALLEL, "round_every": 3600}
    serve = ["serve", "--port", "0", "--slots", str(PARALLEL)]
    with slow_bots() as address, opened(settings, CeleryQueue(settings)) as resources:
        tournament = Tournament(resources, {"grodno": teams}, how)
        for number, team in enumerate(tournament.teams.values()):
            change = update(Bot).where(Bot.team_id == team)
            with resources.database.writing() as session:
                session.execute(change.values(kind="url", endpoint=f"{address}/{number}"))
        tournament.happens("start")
        with roles(Role(serve, environment, tmp_path / "hub.log")):
            wait_until(partial(is_over, tournament), "the end of the round")
        took, full = round_time(tournament)
    assert took <= most * full, f"{took:.2f} s, {took / full:.3f} of the time of full slots"


def is_over(tournament: Tournament) -> bool:
    return tournament.rounds("grodno")[0].closed_at is not None


def round_time(tournament: Tournament) -> tuple[float, float]:
    """Return the seconds from the first match to the last, and those of slots that never wait."""
    played = [
        (match.started_at, match.finished_at)
        for match in tournament.matches()
        if match.started_at is not None and match.finished_at is not None
    ]
    assert len(played) == TEAMS * (TEAMS - 1) // 2
    took = max(end for _, end in played) - min(begin for begin, _ in played)
    of_matches = sum((end - begin).total_seconds() for begin, end in played)
    return took.total_seconds(), of_matches / PARALLEL
