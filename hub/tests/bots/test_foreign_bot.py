"""Bot servers that know the published rules alone, one in another language, pass and play."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import select, update

from cw_hub.bots import jobs as bots_jobs
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import NewBot
from cw_hub.matches import planning
from cw_hub.matches.jobs import Worker
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Bot, MatchParticipant
from hub.tests.bots.test_player_bots import NOBODY, Owner
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site, words_of
from tests.matches.bots_of_games import HEXAGON
from tests.tools import language

SERVER = Path(__file__).parents[3] / "tests" / "bots" / "foreign" / "seed_bot.mjs"


@contextmanager
def serving(secret: str) -> Iterator[str]:
    """Run the server with its secret; gives its address."""
    node = language("javascript").program("node")
    environment = {**os.environ, "SECRET": secret}
    with subprocess.Popen(
        [node, str(SERVER)], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def test_it_passes_the_check_and_plays_without_a_fault(resources: Resources) -> None:
    ann = Owner(resources)
    new = NewBot("code-battle", "Foreign", NOBODY)
    own_bot = ann.do(lambda s: bots_service.register(s, resources.sealer, ann.id, new))
    with serving(own_bot.secret) as address:
        ann.do(lambda s: s.execute(update(Bot).values(endpoint=address)))
        bots_jobs.check_bot(resources, own_bot.id)
        bot = ann.find("Foreign")
        assert (bot.status, bot.reason) == ("ACTIVE", "")
        assert all(step["ok"] for step in bot.checks)
        seats = (Seat("Foreign", bot_id=own_bot.id), Seat("other", spec="builtin:gatherer"))
        plan = Plan("practice", "k", "code-battle", seats, {"max_turns": 30})
        match = ann.do(lambda s: planning.plan(s, plan))
        Worker("me", 1, MATCH_TYPES).play(resources, match)
    with resources.database.reading() as session:
        seat = session.scalars(select(MatchParticipant).where(MatchParticipant.slot == 0)).one()
    assert seat.faults == []
    assert seat.stats["answers"] > 0


HEXAGON_CHANGES = (
    (
        'return self.reply({"status": "error"}, 404)',
        "return self.connection.close()",
    ),
    (
        'ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Bot).serve_forever()',
        'server = ThreadingHTTPServer(("127.0.0.1", 0), Bot)\n'
        'print(f"http://127.0.0.1:{server.server_port}", flush=True)\n'
        "server.serve_forever()",
    ),
)
"""What it does of a battle that it does not know, and where it listens."""


@contextmanager
def dropping_unknown_battles() -> Iterator[str]:
    """Run a bot of Hexagon that drops requests for battles it does not know; gives its address."""
    source = HEXAGON
    for old, new in HEXAGON_CHANGES:
        assert old in source
        source = source.replace(old, new)
    command = [sys.executable, "-c", source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@ON_SQLITE
def test_a_bot_of_hexagon_that_drops_what_no_server_asks_is_active_and_reads_a_note(
    site: Site,
) -> None:
    site.open_competition("hexagon")
    ann, bob, page = site.player("Ann"), site.player("Bob"), "/bot/Swarm?game=hexagon"
    with dropping_unknown_battles() as address:
        values = {"game": "hexagon", "name": "Swarm", "endpoint": address}
        ann.fill("/bots/new", on="/bots/new?kind=address", **values)
        # Once more by itself, as every bot is checked from time to time.
        for _ in range(2):
            with site.resources.database.reading() as session:
                bot = session.scalars(select(Bot).where(Bot.name == "Swarm")).one()
            bots_jobs.check_bot(site.resources, bot.id)
            site.clock.advance(60)
            with site.resources.database.reading() as session:
                bot = session.get_one(Bot, bot.id)
            assert (bot.status, bot.reason, bot.failures) == ("ACTIVE", "", 0)
        (note,) = [step for step in bot.checks if not step["ok"]]
        assert (note["step"], note["warning"]) == ("refuses an unknown battle", True)
        words = words_of(ann.open(page))
        assert "warning: refuses an unknown battle" in words
        assert "answer with status 404" in words
        assert "refuses an unknown" not in words_of(bob.open(page))
        seats = (Seat("Swarm", bot_id=bot.id), Seat("other", spec="builtin:random"))
        with site.resources.database.writing() as session:
            plan = Plan("practice", "k", "hexagon", seats, {"size": 3})
            match = planning.plan(session, plan)
        Worker("me", 1, MATCH_TYPES).play(site.resources, match)
    with site.resources.database.reading() as session:
        seat = session.scalars(select(MatchParticipant).where(MatchParticipant.slot == 0)).one()
    assert seat.faults == []
