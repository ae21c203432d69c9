"""Whatever reads what strangers send to the site takes time in proportion to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cw_hub.accounts.forms import is_email
from cw_hub.bots.versions import compare
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.tournament.forms import read_boards
from cw_hub.competitions.tournament.people import guests_of
from cw_hub.competitions.tournament.service import team_lines
from cw_hub.competitions.tournament.teams import read_ssh_key
from cw_hub.operation.logs import masked
from cw_hub.pages import forms as pages_forms
from cw_hub.players import packages
from hub.bench.strangers_files import KINDS, PAGE, Kind
from tests.growth import KIB, MOST, growth, patterns, slow_texts, slow_tries

SOURCES = Path(__file__).resolve().parents[1] / "cw_hub"

READERS: dict[str, Callable[[str], object]] = {
    "zip": lambda text: packages.files_of(b"PK\x03\x04" + text.encode()),
    "Markdown": competitions_service.as_html.__wrapped__,
    "first sentence of Markdown": competitions_service.first_sentence.__wrapped__,
    "list of addresses": lambda text: list(guests_of(text)),
    "list of teams": lambda text: list(team_lines(text)),
    "boards": read_boards,
    "e-mail address": is_email,
    "SSH key": read_ssh_key,
    "display name": pages_forms.as_shown,
    "comparison": lambda text: compare({"a": b"x\n"}, {"a": text.encode()}),
    "line of a log": masked,
}
"""What reads texts of strangers, each as a whole."""

LONGEST = {
    "Markdown": competitions_service.LONGEST,
    "first sentence of Markdown": competitions_service.LONGEST,
}
"""Characters of the texts that are accepted where those are few."""


@pytest.mark.parametrize("name", READERS)
def test_no_text_for_the_site_takes_the_square_of_its_length(name: str) -> None:
    assert slow_texts(READERS[name], LONGEST.get(name, 32 * KIB)) == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_worst_file_of_each_kind_is_read_in_proportion(kind: Kind) -> None:
    length = min(kind.largest, 32 * KIB)
    assert growth(kind.read, kind.make(length // 4), kind.make(length)) <= MOST


def test_the_documentation_lists_these_kinds_with_their_bounds() -> None:
    text = PAGE.read_text("utf-8")
    missing = [kind.name for kind in KINDS if f"| {' | '.join(kind.row())} |" not in text]
    assert missing == [], "call `python -m hub.bench.strangers_files --write`"


@pytest.mark.parametrize(("pattern", "is_searched"), list(patterns(SOURCES)))
def test_no_pattern_of_the_site_takes_the_square_of_a_text(
    pattern: re.Pattern[Any], is_searched: bool
) -> None:
    assert slow_tries(pattern, is_searched) == []
