"""The one check of names, and every place where somebody chooses one."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cw.errors import UsageError
from cw_hub.accounts import github
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.tournament.teams import NewGroup, NewTeam, add_group, add_teams
from cw_hub.operation.resources import Resources
from cw_hub.pages.forms import clean_name, is_visible, natural_order
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.ladder_rows import Rows
from hub.tests.sites import PASSWORD, Site, site_on

pytestmark = ON_SQLITE

BIDI: Final = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
WIDTHLESS: Final = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
FILLERS: Final = "\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u180b\u180e\ufe0f\U000e0100\U000e0061"
CONTROLS: Final = "\x1b\x7f\ue000\ufdd0"

BAD: Final = BIDI + WIDTHLESS + FILLERS + CONTROLS


@pytest.mark.parametrize("sign", BAD, ids=ascii)
def test_a_sign_that_nobody_sees_is_no_part_of_a_name(sign: str) -> None:
    for name in (f"Ad{sign}a", f"{sign}Ada", f"Ada{sign}"):
        with pytest.raises(UsageError, match="invisible"):
            clean_name(name, 40)


@pytest.mark.parametrize(
    "name", ["Ada", "Ada Lovelace", "Łukasz O'Neil-Smith", "Ἀθηνᾶ", "李小龙", "علي", "नमस्ते", "👾"]
)
def test_names_of_all_scripts_stay_as_they_are(name: str) -> None:
    assert clean_name(name, 40) == name


def test_what_looks_alike_by_its_form_alone_becomes_one_name() -> None:
    assert clean_name(" Ａｄａ\u00a0 Ⅳ\t\n", 40) == "Ada IV"
    assert clean_name("Rene\u0301", 40) == "René"


@pytest.mark.parametrize("name", ["", " \t\n", "\u3000"])
def test_a_name_is_not_empty(name: str) -> None:
    with pytest.raises(UsageError, match="missing"):
        clean_name(name, 40)


@pytest.mark.parametrize("name", ["x" * 41, "\ufdfa" * 3, "\ufdfa" * 10**6])
def test_a_name_is_no_longer_than_it_may_be_as_it_is_shown(name: str) -> None:
    with pytest.raises(UsageError, match="longer than 40"):
        clean_name(name, 40)


@given(st.text(max_size=60))
def test_a_name_that_is_taken_is_visible_and_stays_the_same(text: str) -> None:
    try:
        name = clean_name(text, 40)
    except UsageError:
        return
    assert clean_name(name, 40) == name
    assert unicodedata.is_normalized("NFKC", name)
    assert is_visible(name)
    assert not any(unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co") for sign in name)
    assert 1 <= len(name) <= 40


# Where names are chosen

Door = Callable[[Site, str], str]
"""Chooses a name; returns what is said, "" if it was taken."""


def as_username(site: Site, name: str) -> str:
    page = site.visitor().register(name, email="x@example.org")
    return page.text if page.status_code == 422 else ""


def as_display_name(site: Site, name: str) -> str:
    page = site.player("Ada").fill("/settings", display_name=name)
    return page.text if page.status_code == 422 else ""


def as_token(site: Site, name: str) -> str:
    values = {"token_name": name, "days": "30", "read": "y", "token_password": PASSWORD}
    page = site.player("Ada").fill("/settings/tokens", on="/settings", **values)
    return page.text if page.status_code == 422 else ""


def as_bot(site: Site, name: str) -> str:
    site.open_competition("hexagon")
    values = {"game": "hexagon", "name": name, "endpoint": "http://127.0.0.1:9/"}
    page = site.player("Ada").fill("/bots/new", **values)
    return page.text if page.status_code == 422 else ""


def as_team(site: Site, name: str) -> str:
    rows = Rows(site.resources.database, site.clock).begin()
    rows.group("GRODNO")
    return refusal(site, lambda session: add_teams(session, rows.id, [NewTeam(name)]))


def as_group(site: Site, name: str) -> str:
    rows = Rows(site.resources.database, site.clock).begin()
    return refusal(site, lambda session: add_group(session, rows.id, NewGroup(name)))


def as_competition(site: Site, name: str) -> str:
    def make(session: object) -> object:
        return competitions_service.new(session, "rated", "hexagon", title=name)  # type: ignore[arg-type]

    return refusal(site, make)


def refusal(site: Site, act: Callable[..., object]) -> str:
    try:
        with site.resources.database.writing() as session:
            act(session)
    except UsageError as error:
        return str(error)
    return ""


DOORS: Final[dict[str, tuple[Door, str]]] = {
    "username": (as_username, "must only contain letters, numbers, and _"),
    "display name": (as_display_name, "must not contain invisible characters"),
    "access token": (as_token, "must not contain invisible characters"),
    "bot": (as_bot, "must only contain letters, numbers, and hyphens"),
    "team": (as_team, "invisible characters"),
    "group": (as_group, "invisible characters"),
    "competition": (as_competition, "invisible characters"),
}


@pytest.mark.parametrize("name", ["Eve\u202eadA", "Ad\u200ba", "Ad\u3164a"], ids=ascii)
@pytest.mark.parametrize(("door", "words"), DOORS.values(), ids=DOORS.keys())
def test_nobody_chooses_a_name_with_what_is_not_seen(
    site: Site, door: Door, words: str, name: str
) -> None:
    assert words in door(site, name)


def test_a_display_name_is_shown_in_one_form(site: Site) -> None:
    ada = site.player("Ada")
    assert ada.fill("/settings", display_name="  Ａda \u00a0 Lovelace ").status_code == 303
    assert 'value="Ada Lovelace"' in ada.open("/settings").text


@pytest.mark.parametrize(
    ("name", "display_name"),
    [("Octo  Cat", "Octo Cat"), ("Eve\u202eadA", ""), ("x" * 65, ""), ("", "")],
)
def test_a_name_of_github_is_taken_if_it_may_be_chosen_here(name: str, display_name: str) -> None:
    assert github.display_name(name) == display_name


# Rooms


@pytest.mark.parametrize(("rooms", "code"), [(False, 404), (True, 200)])
def test_rooms_of_a_public_site_are_off_unless_asked_for(
    resources: Resources, hub_clock: StillClock, rooms: bool, code: int
) -> None:
    public = replace(resources.settings, public_url="http://hub.example", rooms=rooms)
    with site_on(replace(resources, settings=public), hub_clock) as site:
        visitor = site.visitor()
        for path in ("/rooms/", "/rooms/list.json", "/rooms/table-1/status"):
            assert visitor.open(path).status_code == code
        registered = visitor.open("/rooms/table-1/reg/ann", headers={"Host": "hub.example"})
        assert (registered.status_code == 404) == (code == 404)
        assert ('href="/rooms/"' in visitor.open("/games/circuit-wars/").text) == rooms


def test_the_page_of_rooms_says_that_anybody_may_move(site: Site) -> None:
    page = site.visitor().open("/rooms/").text
    assert "anyone who can open this page can move for either team" in page


def test_names_are_sorted_as_people_count() -> None:
    names = ["team 10", "Team 2", "team", "team 2b", "Äther", "10", "9", "team ²", "team 2 10", ""]
    assert sorted(names, key=natural_order) == [
        "", "9", "10", "team", "Team 2", "team ²", "team 2 10", "team 2b", "team 10", "Äther",
    ]  # fmt: skip
