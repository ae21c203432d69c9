"""Scripts of pages show what others have written as text, and not as HTML."""

from __future__ import annotations

from pathlib import Path

from tests.scripts import participles, scripts, taking_html

STATIC = Path(__file__).resolve().parents[1] / "static"


def test_no_script_takes_text_for_html() -> None:
    assert len(scripts(STATIC)) > 50
    assert taking_html(STATIC) == set()


def test_things_in_scripts_are_named_by_nouns() -> None:
    assert list(participles(STATIC)) == []
