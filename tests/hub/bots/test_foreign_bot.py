"""A bot server that knows the published rules alone, in another language, passes and plays."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import select, update

from cw.hub.bots import verbs as bots
from cw.hub.bots.checks import jobs
from cw.hub.bots.verbs import NewBot
from cw.hub.matches import planning
from cw.hub.matches.planning import Plan, Seat
from cw.hub.matches.playing.worker import Worker
from cw.hub.operation.resources import Resources
from cw.hub.site.formats import KINDS
from cw.hub.store.tables import Bot, MatchParticipant
from tests.hub.bots.test_player_bots import NOBODY, Owner
from tests.tools import language

SERVER = Path(__file__).parents[2] / "bots" / "foreign" / "seed_bot.mjs"


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
    own_bot = ann.do(lambda s: bots.register(s, ann.clock, resources.sealer, ann.id, new))
    with serving(own_bot.secret) as address:
        ann.do(lambda s: s.execute(update(Bot).values(endpoint=address)))
        jobs.check_bot(resources, own_bot.id)
        bot = ann.find("Foreign")
        assert (bot.status, bot.reason) == ("ACTIVE", "")
        assert all(step["ok"] for step in bot.checks)
        seats = (Seat("Foreign", bot_id=own_bot.id), Seat("other", spec="builtin:gatherer"))
        plan = Plan("practice", "k", "code-battle", seats, {"max_turns": 30})
        match = ann.do(lambda s: planning.plan(s, ann.clock, plan))
        Worker("me", 1, KINDS).play(resources, match)
    with resources.database.reading() as session:
        seat = session.scalars(select(MatchParticipant).where(MatchParticipant.slot == 0)).one()
    assert seat.faults == []
    assert seat.stats["answers"] > 0
