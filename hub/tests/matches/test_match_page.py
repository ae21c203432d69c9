"""What the owner of a bot reads of its faults on the page of a match."""

from __future__ import annotations

from sqlalchemy import select, update

from cw_hub.matches.jobs import Worker
from cw_hub.matches.match_types import title_of
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Match, MatchParticipant
from hub.tests.bots.test_player_bots import register
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.conftest import StillClock
from hub.tests.sites import Site, words_of


def test_faults_have_the_number_of_their_turn_as_the_viewer_has_it(
    site: Site, resources: Resources, hub_clock: StillClock
) -> None:
    Arena(resources, hub_clock, options={"max_turns": 12})
    ann = site.player("Ann")
    register(ann, game="code-battle")
    path = ann.fill("/bot/Swarm/test-match", "/bots", opponent="random").headers["Location"]
    with resources.database.reading() as session:
        match = session.scalars(select(Match.id).where(Match.kind == "practice")).one()
    # Nobody listens at the address of the bot.
    Worker("me", 1, MATCH_TYPES).play(resources, match)
    fault = {"turn": 11, "player": 1, "kind": "timeout", "detail": "no answer within 5 s"}
    with resources.database.writing() as session:
        session.execute(
            update(MatchParticipant)
            .where(MatchParticipant.match_id == match, MatchParticipant.name == "Swarm")
            .values(faults=[fault])
        )
    assert "12 timeout no answer within 5 s" in words_of(ann.open(path))
    assert "no answer within 5 s" not in words_of(site.visitor().open(path))


def test_a_match_of_many_is_named_after_the_first_three() -> None:
    names = [f"bot{number}" for number in range(1, 501)]
    assert title_of(names[:6], " - ") == "bot1 - bot2 - bot3 - bot4 - bot5 - bot6"
    assert title_of(names, " - ") == "bot1 - bot2 - bot3 and 497 more"
