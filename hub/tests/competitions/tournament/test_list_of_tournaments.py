"""The list of tournaments: who sees which, in which order, and no more of them than fit."""

from __future__ import annotations

import re

from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_rows import Rows, duel
from hub.tests.sites import Site, words_of

pytestmark = ON_SQLITE


def page(site: Site, path: str) -> str:
    """Return the words of a page that is there."""
    answer = site.visitor().open(path)
    assert answer.status_code == 200, answer.text
    return words_of(answer)


def titles(site: Site, query: str = "") -> list[str]:
    """Return the tournaments of a page, the first first."""
    return re.findall(r'<h3><a href="/t/[^"]+">([^<]+)', site.visitor().open(f"/t/{query}").text)


def add(site: Site, title: str, state: str = "running", *, begun: bool = True) -> None:
    """Make a tournament of which something is announced."""
    slug = title.lower().replace(" ", "-")
    rows = Rows(site.resources.database, site.clock, slug).begin(title=title, state=state)
    rows.event("start", -60 if begun else 60)


def test_tournaments_are_listed_once_something_is_announced(site: Site) -> None:
    assert "No tournament is announced." in page(site, "/t/")
    rows = duel(site.resources.database, site.clock, begun=False)
    assert "No tournament is announced." in page(site, "/t/")
    rows.event("start", 3600, announced=False)
    assert "No tournament is announced." in page(site, "/t/")
    rows.event("note", 7200, title="Pizza")
    words = page(site, "/t/")
    assert "Duel <1>" in words
    assert "Hexagon, 5 teams, GRODNO, MINSK, FINAL" in words
    assert "Not started yet Duel <1>" in words
    assert "Pizza in 2 hours" in words
    assert "/t/t1/" in site.visitor().open("/t/").text


def test_those_that_run_are_first_each_kind_as_people_count(site: Site) -> None:
    add(site, "Old 1", "over")
    for title in ("Cup 10", "Cup 9", "cup 1"):
        add(site, title)
    add(site, "Next 2", "draft", begun=False)
    add(site, "Rest 1", "paused")
    assert titles(site) == ["cup 1", "Cup 9", "Cup 10", "Rest 1", "Next 2", "Old 1"]
    words = page(site, "/t/")
    assert "All (6) Running (4) Not started yet (1) Over (1)" in words
    assert "Rest 1 Hexagon, 0 teams Paused" in words
    assert titles(site, "?state=over") == ["Old 1"]
    assert titles(site, "?state=chess") == titles(site)


def test_a_long_list_is_searched_and_has_pages(site: Site) -> None:
    add(site, "Old 1", "over")
    assert "Title" not in page(site, "/t/")
    for number in range(33):
        add(site, f"Cup {number}")
    assert titles(site) == [f"Cup {number}" for number in range(30)]
    last = ["Cup 30", "Cup 31", "Cup 32", "Old 1"]
    assert titles(site, "?page=2") == titles(site, "?page=99") == last
    assert "Previous Page 2 of 2" in page(site, "/t/?page=2")
    assert titles(site, "?q=cUP+3") == ["Cup 3", "Cup 30", "Cup 31", "Cup 32"]
    assert titles(site, "?q=cup&state=over") == []
    assert "No tournaments match this filter. All tournaments" in page(site, "/t/?q=%25")


def test_the_home_page_tells_of_the_latest_alone(site: Site) -> None:
    for number in range(9):
        add(site, f"Cup {number}")
    words = page(site, "/")
    assert "Cup 2" not in words
    assert words.index("Cup 3") < words.index("Cup 8") < words.index("All tournaments")
