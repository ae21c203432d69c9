"""Scripts of the site show what others have written as text, and not as HTML."""

from __future__ import annotations

from pathlib import Path

from tests.scripts import participles, scripts, taking_html

STATIC = Path(__file__).resolve().parents[1] / "static"

MADE_BY_THE_SERVER = {"hub/ladder.js", "hub/refresh_list.js"}
"""Those that take HTML in which our own server has escaped what people have written."""


def test_no_script_of_the_site_takes_text_for_html() -> None:
    assert len(scripts(STATIC)) > 20
    assert taking_html(STATIC) <= MADE_BY_THE_SERVER


def test_things_in_scripts_of_the_site_are_named_by_nouns() -> None:
    assert list(participles(STATIC)) == []
