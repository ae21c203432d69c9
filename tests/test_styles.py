"""Sizes of type, radii and distances of all pages are those that static/base.css names."""

from __future__ import annotations

import re
from pathlib import Path

from tests.styles import literals

STATIC = Path(__file__).resolve().parents[1] / "static"


def test_pages_measure_by_tokens() -> None:
    assert literals(STATIC.glob("*.css")) == []


def test_there_are_three_radii_and_six_sizes_of_type() -> None:
    text = (STATIC / "base.css").read_text(encoding="utf-8")
    assert len(re.findall(r"^  --radius[\w-]*:", text, re.M)) == 3
    assert len(re.findall(r"^  --text-[\w-]+:", text, re.M)) == 6
