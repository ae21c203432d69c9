"""A team.toml with a number, a table or a name that the pages could not read: each was a 500."""

from __future__ import annotations

import pytest

from hub.tests.attacks.hubs import Hub
from hub.tests.sites import words_of
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

NUMBERS = {
    "decimal": b"parallel = " + b"9" * 4301,
    "hexadecimal": b"parallel = 0x" + b"f" * 16_000,
    "negative": b"parallel = -" + b"9" * 4301,
    "in a list": b"members = [1, " + b"9" * 4301 + b"]",
    "as an unknown key's": b"unknown = " + b"9" * 4301,
    "as a fraction": b"parallel = 0." + b"9" * 16_000,
}

TABLES = {
    "a table in place of a command": b"run." + b"a." * 5000 + b"a = 1",
    "lists in place of a command": b"run = " + b"[" * 5000 + b"]" * 5000,
    "tables in place of a command": b"run = " + b"{a=" * 2000 + b"1" + b"}" * 2000,
}


def test_a_program_with_a_huge_number_is_refused_with_a_sentence(hub: Hub) -> None:
    player = hub.player("hugenumbers")
    for number, about in enumerate(NUMBERS.values()):
        answer = player.send_program(f"Huge{number}", {"bot.py": b"", "team.toml": about})
        assert answer.status_code == 422, words_of(answer)
        assert "team.toml: line 1: a number may have at most 20 digits" in words_of(answer)


def test_a_program_with_deep_tables_is_refused_with_a_sentence(hub: Hub) -> None:
    player = hub.player("deeptables")
    for number, about in enumerate(TABLES.values()):
        answer = player.send_program(f"Deep{number}", {"bot.py": b"", "team.toml": about})
        assert answer.status_code == 422, words_of(answer)
        assert "team.toml: line 1: " in words_of(answer)


def test_a_program_of_a_long_name_is_refused_with_a_sentence(hub: Hub) -> None:
    player = hub.player("longnames")
    about = b'bot = "' + b"a" * 5000 + b'"'
    answer = player.send_program("Long", {"bot.py": b"", "team.toml": about})
    assert answer.status_code == 422, words_of(answer)
    assert "there is no file" in words_of(answer)
