"""Relative times in Python; tests/browser holds the script to the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from cw_hub.pages.layout import machine_time, relative, time_element

NOW = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)
VECTORS = json.loads(Path(__file__).with_name("times.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("seconds", "words"), VECTORS)
def test_words(seconds: int, words: str) -> None:
    assert relative(NOW - timedelta(seconds=seconds), NOW) == words


def test_parts_of_a_second_are_cut_off() -> None:
    almost = timedelta(seconds=10, microseconds=999_999)
    assert relative(NOW - almost, NOW) == "now"
    assert relative(NOW + almost, NOW) == "now"


def test_the_element_says_the_moment_in_utc() -> None:
    athens = timezone(timedelta(hours=2))
    moment = datetime(2026, 11, 20, 19, 30, tzinfo=athens)
    assert time_element(moment, NOW) == (
        '<time datetime="2026-11-20T17:30:00Z" title="2026-11-20 17:30 UTC">30 minutes ago</time>'
    )


def test_machine_time_ends_with_z() -> None:
    assert machine_time(NOW) == "2026-11-20T18:00:00Z"
