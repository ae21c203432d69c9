"""What feed readers, search engines and those who share a link are told of a site."""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree

import pytest

from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.context import Clock
from cw_hub.store.models import Competition, Event
from hub.tests.competitions.daily.test_daily_pages import play_game
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site

pytestmark = ON_SQLITE

ATOM: Final = "{http://www.w3.org/2005/Atom}"


def entries(site: Site) -> list[ElementTree.Element]:
    answer = site.visitor().open("/feed.atom")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    return ElementTree.fromstring(answer.text).findall(f"{ATOM}entry")


def add_event(site: Site, title: str, *, is_applied: bool) -> None:
    clock: Clock = site.resources.clock
    with site.resources.database.writing() as session:
        row = session.query(Competition).filter_by(format=FORMAT).first()
        if row is None:
            competition = competitions_service.new(session, FORMAT, "hexagon", title="Evening")
            row = session.get_one(Competition, competition.id)
        applied = clock() if is_applied else None
        session.add(
            Event(
                competition_id=row.id,
                at=clock(),
                kind="news",
                title=title,
                text="<b>Pizza</b> & juice",
                announced=True,
                applied_at=applied,
            )
        )


def test_an_empty_site_has_an_empty_feed(site: Site) -> None:
    assert entries(site) == []


def test_a_daily_game_is_news_with_its_winner(site: Site) -> None:
    game = play_game(site, 3)
    (entry,) = entries(site)
    assert "Game of " in (entry.findtext(f"{ATOM}title") or "")
    assert re.search(
        r"(won|share first place) among 3 players", entry.findtext(f"{ATOM}summary") or ""
    )
    link = entry.find(f"{ATOM}link")
    assert link is not None
    address = link.attrib["href"]
    assert address == f"{site.resources.settings.address}/match/{game}"
    assert site.visitor().get(address).status_code == 200


def test_events_are_news_once_they_have_taken_place(site: Site) -> None:
    add_event(site, "Break", is_applied=True)
    add_event(site, "Surprise", is_applied=False)
    (entry,) = entries(site)
    assert entry.findtext(f"{ATOM}title") == "Evening: Break"
    assert entry.findtext(f"{ATOM}summary") == "<b>Pizza</b> & juice"


def test_a_reader_that_comes_again_is_told_that_nothing_is_new(site: Site) -> None:
    visitor = site.visitor()
    add_event(site, "Break", is_applied=True)
    tag = visitor.open("/feed.atom").headers["ETag"]
    assert visitor.open("/feed.atom", headers={"If-None-Match": tag}).status_code == 304


def test_every_page_of_the_sitemap_is_there(site: Site) -> None:
    visitor = site.visitor()
    text = visitor.open("/sitemap.xml").text
    pages = re.findall("<loc>(.*)</loc>", text)
    assert f"{site.resources.settings.address}/docs/first-bot" in pages
    assert [page for page in pages if visitor.get(page).status_code != 200] == []
    assert (
        f"Sitemap: {site.resources.settings.address}/sitemap.xml"
        in visitor.open("/robots.txt").text
    )


@pytest.mark.parametrize("page", ["/", "/games/hexagon/", "/games/paint/rules", "/docs/kits"])
def test_a_shared_link_has_a_title_a_sentence_and_a_picture(site: Site, page: str) -> None:
    visitor = site.visitor()
    text = visitor.open(page).text
    properties = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]+)">', text))
    assert set(properties) == {"site_name", "title", "description", "image"}
    assert properties["title"] in text.partition("<title>")[2].partition("</title>")[0]
    assert properties["image"].startswith(site.resources.settings.address)
    assert visitor.get(properties["image"]).status_code == 200
