"""What a competition says of itself: Markdown that does no harm, on every page and as a card."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from cw.errors import UsageError
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.tournament.service import TournamentConfig, create
from cw_hub.competitions.tournament.teams import NewGroup
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site

WORDS = """Open to **everybody** from Lyon until 1.5. at noon, e.g. you! There is a prize.

## Prizes
| place | prize |
|---|---|
| 1 | a <script>alert(1)</script> |

[Rules](https://example.org/rules) and [a trap](javascript:alert(1)), ![a picture](/x.png)
"""


def test_marks_become_html_and_tags_stay_text() -> None:
    html = competitions_service.as_html(WORDS)
    assert "<strong>everybody</strong>" in html
    assert '<a href="https://example.org/rules">Rules</a>' in html
    assert "&lt;script&gt;" in html
    for never in ("<script", "<img", 'href="javascript'):
        assert never not in html


@pytest.mark.parametrize(
    "target",
    ["data:text/html,x", "javascript:alert(1)", "//elsewhere.org", "mailto:a@example.org", "x"],
)
def test_a_link_to_anything_but_a_page_is_words(target: str) -> None:
    assert "<a " not in competitions_service.as_html(f"[words]({target})")
    assert '<a href="/games/">' in competitions_service.as_html("[words](/games/)")


def test_headings_stand_below_that_of_the_page_and_leave_out_no_level() -> None:
    html = competitions_service.as_html("### A\n\n##### B\n\n# C\n\n###### D\n")
    levels = [int(part[0]) for part in html.split("<h")[1:]]
    assert levels == [2, 3, 2, 3]
    assert all(below - above <= 1 for above, below in pairwise(levels))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ""),
        ("# Title\n", ""),
        ("# Title\n\nFor *all*\nof [you](/x). More.", "For all of you."),
        (WORDS, "Open to everybody from Lyon until 1.5. at noon, e.g. you!"),
        ("word " * 100, f"{' '.join(['word'] * 39)} ..."),
    ],
)
def test_the_first_sentence_is_plain_words(text: str, sentence: str) -> None:
    assert competitions_service.first_sentence(text) == sentence


@pytest.mark.parametrize("text", ["x" * 4001, "a\0b", "a\u202eb", "\ud800"])
def test_what_cannot_be_kept_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="the description"):
        competitions_service.checked(text)


def test_lines_of_any_system_are_kept_as_ours() -> None:
    assert competitions_service.checked(" a\r\nb\rc \n") == "a\nb\nc"


def add_all(site: Site) -> dict[str, str]:
    """Create a running competition of each format; return their pages."""

    def do(verb: Callable[..., Any], *values: Any, **more: Any) -> Any:
        with site.resources.database.writing() as session:
            return verb(session, *values, **more)

    for kind in ("daily", "rated", "cup"):
        settings = {"bots": "Ann,Bob"} if kind == "cup" else None
        facts = do(competitions_service.new, kind, "paint", description=WORDS, settings=settings)
        do(competitions_service.set_state, facts.id, "running")
    for slug, groups in (("one", ["Open"]), ("two", ["Lyon", "Athens"])):
        named = [*map(NewGroup, groups)]
        do(create, TournamentConfig(slug, "paint", groups=named, description=WORDS))
    return {
        "daily": "/ranking?game=paint",
        "rated": "/leaderboard?game=paint",
        "cup": "/cup/paint",
        "ladder of one group": "/t/one/open/",
        "groups of a tournament": "/t/two/",
    }


@ON_SQLITE
def test_the_page_of_every_format_shows_it_and_its_card_the_first_sentence(site: Site) -> None:
    for kind, path in add_all(site).items():
        page = site.visitor().open(path).text
        assert "<strong>everybody</strong>" in page, kind
        assert "<script>alert" not in page, kind
        meta = '<meta property="og:description" content="Open to everybody from Lyon until 1.5.'
        assert meta in page, kind


@ON_SQLITE
def test_what_stands_in_a_card_ends_no_attribute(site: Site) -> None:
    with site.resources.database.writing() as session:
        facts = competitions_service.new(
            session, "daily", "paint", description='"><meta http-equiv="refresh"> Hi'
        )
        competitions_service.set_state(session, facts.id, "running")
    page = site.visitor().open("/ranking?game=paint").text
    assert '<meta http-equiv="refresh"' not in page
    assert 'content="&#34;&gt;&lt;meta http-equiv=&#34;refresh&#34;&gt; Hi"' in page
