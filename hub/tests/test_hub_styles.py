"""Sizes of type, radii and distances of the site's pages are those that static/base.css names."""

from __future__ import annotations

from pathlib import Path

from tests.styles import literals

STATIC = Path(__file__).resolve().parents[1] / "static"

PRINTED = "card_sheet.css"
"""The style of a page that is printed: it measures in millimetres and points."""


def test_pages_of_the_site_measure_by_tokens() -> None:
    files = list(STATIC.glob("hub/**/*.css"))
    assert len(files) > 10
    assert literals(file for file in files if file.name != PRINTED) == []
