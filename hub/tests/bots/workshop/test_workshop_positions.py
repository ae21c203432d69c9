"""Drafts that are run in a position of a match of the site."""

from __future__ import annotations

import re

from sqlalchemy import select

from cw.replays.document import encode
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.stored_replays import replay_key, viewed_key
from cw_hub.store.models import Battle, Match
from hub.tests.bots.workshop.test_workshop_runs import Author, working
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site
from tests.browser.recorded import recorded
from tests.tools import NEEDS_BUBBLEWRAP
from tests.web.workshop.test_positions import state_after
from tests.web.workshop.test_runs import WALK, paint

pytestmark = [
    NEEDS_BUBBLEWRAP,
    ON_SQLITE,
]


def played(site: Site, game: str = "paint", kind: str = "rated") -> str:
    """Keep a match that is over, with its replay; return its name."""
    seats = tuple(Seat(name, spec="builtin:still") for name in ("one", "two"))
    with site.resources.database.writing() as session:
        number = planning.plan(session, Plan(kind, f"{kind} {game}", game, seats))
        match = session.get_one(Match, number)
        key = replay_key(match.match_id, site.clock(), 1)
        match.state, match.finished_at = "done", site.clock()
        about = {"first_slot": 0, "reason": "finished", "ranks": [], "scores": [], "turns": 40}
        times = {"started_at": site.clock(), "ended_at": site.clock()}
        session.add(Battle(match_id=number, number=1, replay_key=key, **about, **times))
        name = match.match_id
    site.resources.objects.put_new(viewed_key(game, key), encode(recorded(game), packed=True))
    return name


def test_a_draft_plays_on_from_a_match_of_others(site: Site) -> None:
    site.open_competition("paint")
    ann, match = Author(site, "Ann"), played(site)
    link = re.search(r'href="([^"]*)" data-from-turn>Try', ann.visitor.open(f"/match/{match}").text)
    assert link
    page = ann.visitor.open(link[1].replace("&amp;", "&"))
    assert f'data-name="{match}" data-document="/match/{match}/replay"' in page.text
    ann.write(paint(f"return {WALK}"))
    begun = ann.run(replay=match, turn=5, seat=2, opponent="still")
    with working(site):
        run = ann.ended()
        assert not run["failed"], run
        document = ann.visitor.open(begun["document"]).json()
        assert document["from"] == "position"
        assert [seat["name"] for seat in document["players"]] == ["still", "mine"]
        assert document["start"] == state_after("paint", 5)
        assert ann.asked_again(1)["answer"]["question"]
        ann.run(replay=match, turn=40)
        assert "match is over in turn 40" in ann.ended()["words"]
        ann.run(replay=match, turn=5, seat=3)
        assert "seat must be from 1 to 2" in ann.ended()["words"]


def test_a_replay_that_may_not_be_seen_is_none(site: Site) -> None:
    site.open_competition("paint")
    ann, private = Author(site, "Ann"), played(site, kind="practice")
    for name in (private, "m_none", "nobody-b2"):
        ann.run(404, replay=name)
    ann.run(400, replay="../x")
    ann.run(201)


def test_a_replay_that_is_gone_or_of_another_game_is_a_sentence(site: Site) -> None:
    site.open_competition("paint")
    site.open_competition("hexagon")
    ann, gone, other = Author(site, "Ann"), played(site), played(site, "hexagon")
    with site.resources.database.reading() as session:
        keys = [key for key in session.scalars(select(Battle.replay_key)) if key]
    ann.run(replay=other, turn=1)
    with working(site):
        assert "replay of hexagon; the bot plays paint" in ann.ended()["words"]
    ann.run(replay=gone, turn=1)
    for key in keys:
        site.resources.objects.delete(key)
    with working(site):
        assert "was deleted" in ann.ended()["words"]
