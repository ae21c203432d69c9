"""Competitions that admins create and lead in the browser, over real HTTP."""

from __future__ import annotations

import re
from html import unescape

import pytest
from sqlalchemy import select

from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.store.models import Audit
from hub.tests.conftest import ON_SQLITE
from hub.tests.program import make_admin
from hub.tests.sites import Site, Visitor, words_of

pytestmark = ON_SQLITE

NEW = "/competitions/new"


@pytest.fixture
def ada(site: Site) -> Visitor:
    """Return an admin."""
    visitor = site.player("Ada")
    make_admin(site, "Ada")
    return visitor


def create(ada: Visitor, kind: str, game: str, **typed: str) -> str:
    """Create a competition; return the address to which the browser is sent."""
    form = {"format": kind, "game": game, **typed}
    answer = ada.fill(NEW, on=f"{NEW}?format={kind}&game={game}", **form)
    assert answer.status_code == 303, words_of(answer)
    return answer.headers["Location"]


def facts_of(site: Site, name: str) -> CompetitionFacts:
    with site.resources.database.reading() as session:
        return competitions_service.named(session, name)


def values_of(page: str) -> dict[str, str]:
    """Return what stands in the text fields of a page."""
    fields = re.findall(r'<input type="text" id="(\w+)" name="\w+" value="([^"]*)"', page)
    return {name: unescape(value) for name, value in fields}


def test_format_and_game_are_chosen_first(ada: Visitor) -> None:
    words = words_of(ada.open(NEW))
    for name in ("Daily", "Rated", "Cup", "Tournament"):
        assert name in words
    assert "Time zone" in words_of(ada.open(f"{NEW}?format=daily&game=paint"))
    assert "What is played?" in words_of(ada.open(f"{NEW}?format=chess&game=paint"))
    assert "What is played?" in words_of(ada.open(f"{NEW}?format=daily&game=chess"))


@pytest.mark.parametrize(
    ("kind", "typed", "settings"),
    [
        ("daily", {"time": "19:30", "zone": "Europe/Athens", "options": '{"turns": 30}'},
         {"time": "19:30", "zone": "Europe/Athens", "options": {"turns": 30}}),
        ("rated", {"formats": "2,3", "rest": "5", "house_plays": "true"},
         {"formats": [2, 3], "rest": 5.0, "house_plays": True, "same_owner": False}),
        ("cup", {"contest": "knockout", "bots": "Ann,Bob"},
         {"contest": "knockout", "bots": "Ann,Bob"}),
    ],
)  # fmt: skip
def test_a_competition_is_created_as_a_draft_and_another_like_it(
    site: Site, ada: Visitor, kind: str, typed: dict[str, str], settings: dict[str, object]
) -> None:
    words = {"title": "Paint for all", "description": "For **all**. Come!"}
    page = create(ada, kind, "paint", slug="all", **words, **typed)
    assert page == f"/competitions/{kind}/all"
    facts = facts_of(site, f"{kind}/all")
    assert (facts.title, facts.state, facts.game) == ("Paint for all", "draft", "paint")
    assert (facts.description, facts.settings) == ("For **all**. Come!", settings)
    texts = values_of(ada.open(page).text)
    another = ada.open(f"{NEW}?like={kind}/all").text
    again = values_of(another)
    assert {name: again[name] for name in texts if name != "title"} == {
        name: text for name, text in texts.items() if name != "title"
    }
    assert ">For **all**. Come!</textarea>" in another
    with site.resources.database.reading() as session:
        acts = session.execute(select(Audit.actor, Audit.verb).order_by(Audit.id)).all()
    assert ("Ada", "new") in acts
    assert ("Ada", "set") in acts


def test_a_tournament_is_led_on_the_pages_of_its_host(site: Site, ada: Visitor) -> None:
    typed = {"title": "Duel", "slug": "duel", "groups": "Athens, Lyon,FINAL", "round_every": "60"}
    page = create(ada, "tournament", "hexagon", **typed)
    assert page == "/t/duel/host"
    words = words_of(ada.open(page))
    for group in ("Athens", "Lyon", "FINAL"):
        assert group in words
    assert facts_of(site, "tournament/duel").settings == {"round_every": 60}
    assert ada.open("/competitions/tournament/duel").headers["Location"] == page
    assert f"{NEW}?like=tournament/duel" in ada.open(page).text.replace("%2F", "/")
    again = values_of(ada.open(f"{NEW}?like=tournament/duel").text)
    assert (again["groups"], again["round_every"]) == ("Athens,Lyon,FINAL", "60")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"title": ""}, "Please enter a title."),
        ({"title": "x" * 81}, "longer than 80 characters"),
        (
            {"slug": "No Slug"},
            "The address must be 1 to 32 lower-case letters, digits and hyphens.",
        ),
        ({"rest": "soon"}, "rest must be seconds from 0 to 604800, such as 60, not 'soon'"),
        ({"options": "size=5"}, "Options of the game must be a JSON object"),
        ({"options": '{"turns": 0}'}, "options: turns must be"),
        ({"slug": "taken"}, "there is a competition rated/taken already"),
    ],
)
def test_what_cannot_be_is_told_and_what_was_typed_stays(
    site: Site, ada: Visitor, typed: dict[str, str], message: str
) -> None:
    create(ada, "rated", "paint", title="Before", slug="taken")
    form = {"format": "rated", "game": "paint", "title": "Paint", "slug": "new", **typed}
    answer = ada.fill(NEW, on=f"{NEW}?format=rated&game=paint", **form)
    assert answer.status_code == 422
    assert message in words_of(answer)
    texts = values_of(answer.text)
    assert all(texts[name] == text for name, text in typed.items())
    with site.resources.database.reading() as session:
        assert competitions_service.find(session, "rated", "new") is None


def test_one_starts_pauses_and_ends_once_its_name_is_typed(site: Site, ada: Visitor) -> None:
    page = create(ada, "rated", "paint", title="Paint", slug="all")

    def does(**form: str) -> str:
        assert ada.fill(f"{page}/state", on=page, **form).headers["Location"] == page
        return facts_of(site, "rated/all").state

    assert does(state="running") == "running"
    assert does(state="paused") == "paused"
    assert does(state="over", name="paint") == "paused"
    assert "is not that of the competition" in words_of(ada.open(page))
    assert does(state="over", name="Paint") == "over"
    assert does(state="running") == "running"
    assert ada.fill(f"{page}/state", on=page, state="draft").status_code == 400


def test_settings_are_changed_and_wrong_ones_refused(site: Site, ada: Visitor) -> None:
    page = create(ada, "daily", "paint", title="Paint", slug="all")
    assert ada.fill(f"{page}/settings", on=page, time="07:15").status_code == 303
    refused = ada.fill(f"{page}/settings", on=page, time="noon")
    assert refused.status_code == 422
    assert "'noon' is not a time of day (try 18:00)" in words_of(refused)
    assert facts_of(site, "daily/all").settings["time"] == "07:15"


def test_a_cup_of_bots_that_are_not_there_does_not_begin(site: Site, ada: Visitor) -> None:
    page = create(ada, "cup", "paint", title="Cup", slug="cup", bots="Ann,Bob")
    ada.fill(f"{page}/state", on=page, state="running")
    assert "there is no bot 'Ann' that plays paint" in words_of(ada.open(page))
    assert facts_of(site, "cup/cup").state == "draft"


def test_title_and_description_are_changed_later_and_wrong_ones_refused(
    site: Site, ada: Visitor
) -> None:
    page = create(ada, "rated", "paint", title="Paint", slug="all")
    words = {"title": "Paint again", "description": "For **all**."}
    assert ada.fill(f"{page}/words", on=page, **words).status_code == 303
    facts = facts_of(site, "rated/all")
    assert (facts.title, facts.description) == ("Paint again", "For **all**.")
    refused = ada.fill(f"{page}/words", on=page, title="Paint", description="x" * 4001)
    assert refused.status_code == 422
    assert "the description has 4,001 characters, more than 4,000" in words_of(refused)
    assert "x" * 4001 in refused.text
    assert facts_of(site, "rated/all").title == "Paint again"


def test_a_host_changes_what_people_read_of_a_tournament(site: Site, ada: Visitor) -> None:
    page = create(ada, "tournament", "hexagon", title="Duel", slug="duel", description="Old.")
    assert facts_of(site, "tournament/duel").description == "Old."
    words = {"title": "The duel", "description": "For **all**."}
    assert ada.fill(f"{page}/describe", on=page, **words).status_code == 303
    facts = facts_of(site, "tournament/duel")
    assert (facts.title, facts.description) == ("The duel", "For **all**.")
    long = {"title": "Duel", "description": "x" * 4001}
    assert ada.fill(f"{page}/describe", on=page, **long).status_code == 422


def test_one_that_begins_by_itself_is_announced_and_its_times_are_of_a_zone(
    site: Site, ada: Visitor
) -> None:
    typed = {
        "starts": "2026-11-21T18:00",
        "ends": "2026-12-21T18:00",
        "dates_zone": "Europe/Athens",
    }
    page = create(ada, "rated", "paint", title="Paint", slug="paint", **typed)
    draft = ada.open(page)
    assert 'value="2026-11-21T18:00"' in draft.text
    assert "Announce it" in words_of(draft)
    fresh = {"cookies": {"theme": "dark"}}
    assert site.visitor().open("/leaderboard?game=paint", **fresh).status_code == 404
    ada.fill(f"{page}/state", on=page, state="planned")
    assert "It begins in 22 hours" in words_of(ada.open(page))
    leaderboard = site.visitor().open("/leaderboard?game=paint", **fresh)
    assert "Begins in 22 hours, and ends in 1 month" in words_of(leaderboard)
    assert '<time datetime="2026-11-21T16:00:00Z"' in leaderboard.text
    assert "Paint begins in 22 hours" in words_of(site.visitor().open("/", **fresh))
    [row] = site.visitor().open("/api/v1/status").json()["competitions"]
    assert (row["state"], row["starts_at"]) == ("planned", "2026-11-21T16:00:00Z")
    past = {**typed, "starts": "2026-11-01T18:00"}
    refused = ada.fill(f"{page}/dates", on=page, **past)
    assert (refused.status_code, "the start is in the past" in words_of(refused)) == (422, True)
    assert ada.fill(f"{page}/dates", on=page, dates_zone="UTC").status_code == 303
    assert facts_of(site, "rated/paint").state == "draft"


@pytest.mark.parametrize(
    ("kind", "path", "settings"),
    [
        ("daily", "/ranking?game=paint", {}),
        ("rated", "/leaderboard?game=paint", {}),
        ("cup", "/cup/paint", {"bots": "Ann,Bob"}),
    ],
)
def test_a_draft_is_previewed_by_admins_alone(
    site: Site, ada: Visitor, kind: str, path: str, settings: dict[str, str]
) -> None:
    words = {"title": "Paint", "slug": "paint", "description": "For **all**."}
    page = create(ada, kind, "paint", **words, **settings)
    assert f'href="{path}"' in ada.open(page).text
    preview = ada.open(path)
    assert "Preview. Only admins can see this draft." in words_of(preview)
    assert "For <strong>all</strong>." in preview.text
    for visitor in (site.visitor(), site.player("Bob")):
        assert visitor.open(path).status_code == 404
    assert words["description"] not in site.visitor().open("/api/v1/status").text
    with site.resources.database.writing() as session:
        competitions_service.set_state(session, facts_of(site, f"{kind}/paint").id, "running")
    page = site.player("Cid").open(path).text
    assert "For <strong>all</strong>." in page
    assert "Preview" not in page


def test_the_preview_of_a_cup_without_bots_says_what_is_missing(ada: Visitor) -> None:
    create(ada, "cup", "paint", slug="all", title="Cup for all", description="Come **all**!")
    page = ada.open("/cup/all")
    assert page.status_code == 200
    words = words_of(page)
    assert "Preview. Only admins can see this draft." in words
    assert "Cup for all Preview" in words
    assert "No matches yet: a contest takes 2 to 500 teams, not 0." in words
    assert ada.open("/cup/all/stand").status_code == 404
