"""A link leads to the workshop of a hub wherever people look for it, and nowhere if it is off."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from cw_hub.bots.programs import NO_PROGRAMS
from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.operation.resources import Resources
from cw_hub.store.models import Match
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.sites import Site, Visitor, site_on, words_of
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [
    NEEDS_BUBBLEWRAP,
    ON_SQLITE,
]

WORKSHOP = "/workshop/paint/"


def match_of(site: Site, *names: str) -> str:
    """Plan a match of built-in strategies under these names; return the address of its page."""
    seats = tuple(Seat(name, spec="builtin:walker") for name in names)
    with site.resources.database.writing() as session:
        match = planning.plan(session, Plan("rated", " ".join(names), "paint", seats))
        return f"/match/{session.get_one(Match, match).match_id}"


def choice(visitor: Visitor, path: str) -> str:
    """Return the opponent that the workshop begins with."""
    link = re.search(r'<option title="[^"]*" selected>(\w+)<', visitor.open(path).text)
    assert link
    return link[1]


def test_the_page_of_a_game_leads_there_first(site: Site) -> None:
    site.open_competition("paint")
    ways = site.visitor().open("/games/paint/").text.partition('<ul class="ways">')[2]
    first = re.search(r'<a class="button main" href="([^"]*)">([^<]*)<', ways)
    assert first
    assert first.groups() == (WORKSHOP, "Write a bot here")
    home = site.visitor().open("/").text
    assert f'<a href="{WORKSHOP}">Write a bot<span class="unseen"> for Paint' in home


@pytest.mark.parametrize("kind", ["program", "address"])
def test_a_new_bot_is_offered_to_be_written_before_the_form(site: Site, kind: str) -> None:
    site.open_competition("hexagon")
    page = site.player("Ann").open(f"/bots/new?kind={kind}").text
    before = page.partition('action="/bots/new')[0]
    assert 'with nothing to install: <a href="/workshop/hexagon/">Hexagon</a>' in before


def test_the_page_of_a_match_leads_there_with_its_opponent(site: Site) -> None:
    visitor, ann = site.visitor(), site.player("Ann")
    for names, opponent in (
        (("Painter", "walker"), "walker"),
        (("Painter", "Roller"), "random"),
        (("greedy", "Painter"), "greedy"),
    ):
        link = re.search(
            r'href="([^"]*)" data-from-turn>Try my bot from here<',
            visitor.open(match_of(site, *names)).text,
        )
        assert link
        assert link[1].startswith(WORKSHOP)
        assert choice(ann, link[1]) == opponent
        # Whoever is not logged in comes to the same page afterwards.
        leads_to = visitor.open(link[1]).headers["Location"]
        assert leads_to.startswith("/login?next=/workshop/paint/")
    for wrong in ("nobody", "<b>", "x" * 3000, ""):
        assert choice(ann, f"{WORKSHOP}?opponent={wrong}") == "random"
    end_of_codes = site.player("Bob").open("/workshop/end-of-codes/?opponent=random")
    assert end_of_codes.status_code == 200


def test_a_site_that_runs_no_programs_leads_nowhere_and_says_why(
    resources: Resources, hub_clock: StillClock
) -> None:
    settings = replace(resources.settings, hosting="off")
    with site_on(replace(resources, settings=settings), hub_clock) as site:
        site.open_competition("paint")
        ann = site.player("Ann")
        for path in ("/games/paint/", "/", "/bots/new", match_of(site, "Painter", "walker")):
            page = ann.open(path)
            assert page.status_code == 200
            assert "/workshop/" not in page.text, path
        for path in (WORKSHOP, f"{WORKSHOP}language", f"{WORKSHOP}files"):
            refused = ann.open(path)
            assert (refused.status_code, NO_PROGRAMS in words_of(refused)) == (409, True), path
