"""Whatever reads what strangers send takes time in proportion to it, however evil it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cw.arena.bots import LONGEST_COMMAND, named_after_file, read_bot, split_command
from cw.arena.exceptions import exceptions
from cw.arena.sandbox.reached_limits import by_words
from cw.cli.output.last_words import last_words
from cw.documents import parse_toml
from cw.errors import visible
from cw.games.code_battle.maps.map_file import decode_map
from cw.games.end_of_codes.protocol import strict_json
from cw.games.wire import read_json
from cw.replays.document import decode as decode_replay
from cw.workshop.marks import marks_in
from tests.growth import KIB, patterns, slow_texts, slow_tries

SOURCES = Path(__file__).resolve().parents[1] / "cw"

READERS: dict[str, Callable[[str], object]] = {
    "TOML": lambda text: parse_toml(text.encode(), 64 * KIB),
    "JSON": read_json,
    "JSON of End of Codes": lambda text: strict_json(text.encode()),
    "replay": lambda text: decode_replay(text.encode()),
    "map": lambda text: decode_map(text.encode(), "map"),
    "bot argument": lambda text: read_bot("a", text, {}),
    "command": split_command,
    "name of a file": named_after_file,
    "error output": lambda text: [raised.sentence for raised in exceptions(text)],
    "marks": lambda text: marks_in(text, ["bot.py", "a.php"]),
    "limits in output": by_words,
    "last words": last_words,
    "text for a terminal": visible,
}
"""What reads texts of strangers, each as a whole."""

LONGEST = {"command": LONGEST_COMMAND}
"""Characters of the texts that are accepted where those are few."""

BEGINNINGS = {"marks": ("Parse error:", "PHP Fatal error:"), "TOML": ('a = "', "a = [", 'a = """')}
"""With what texts begin that lead into a reader."""


@pytest.mark.parametrize("name", READERS)
def test_no_text_takes_the_square_of_its_length(name: str) -> None:
    longest = LONGEST.get(name, 32 * KIB)
    assert slow_texts(READERS[name], longest, *BEGINNINGS.get(name, ())) == []


@pytest.mark.parametrize(("pattern", "is_searched"), list(patterns(SOURCES)))
def test_no_pattern_takes_the_square_of_a_text(pattern: re.Pattern[Any], is_searched: bool) -> None:
    assert slow_tries(pattern, is_searched) == []
