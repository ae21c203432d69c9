"""`cw replay` on files that are nearly right: a sentence for each, never a traceback."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw.errors import ProtocolError
from cw.replays import document as replays_document
from tests.effort import amount
from tests.matches.playing import play_match
from tests.mutations import CASES, spoiled
from tests.replays.test_forgeries import MATCHES, Match

COMMANDS = (
    ("verify",),
    ("verify", "--json"),
    ("show",),
    ("show", "--turn", "1"),
    ("line", "--turn", "1"),
    ("line", "--turn", "2", "--player", "1"),
    ("export", "--json"),
    ("export", "--gz"),
    ("export", "--html"),
    ("export", "--svg"),
    ("export", "--png", "--turn", "1"),
    ("export", "--game"),
    ("export", "--gif", "--to", "2"),
)


FEW = amount(2, 10) * len(COMMANDS)
"""Files of each game where no number of cases is asked for."""


def recorded(match: Match) -> Any:
    game, names, options = match
    played = play_match(game, [f"builtin:{name}" for name in names], 3, options)
    return json.loads(replays_document.encode(played.replay, packed=False))


def with_fitting_hash(text: bytes) -> bytes:
    """Return a file whose hash fits what it says, so that it is looked at more closely."""
    with suppress(ProtocolError, ValueError, UnicodeError):
        document = json.loads(text)
        document["hash"] = replays_document.digest(replays_document.parse(text))
        return json.dumps(document).encode()
    return text


def run(file: Path, command: tuple[str, ...]) -> bytes:
    """Run a command on a file; return all that it prints."""
    out = ("--out", str(file.with_name("out"))) if command[0] == "export" else ()
    arguments = ["replay", command[0], str(file), *command[1:], *out]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code in (0, 1, 2)
    return done.output_bytes


@pytest.mark.parametrize("match", MATCHES, ids=[match[0] for match in MATCHES])
def test_every_file_is_read_or_refused_with_a_sentence(match: Match, tmp_path: Path) -> None:
    rng, document, file = Random(match[0]), recorded(match), tmp_path / "match.json"
    for number in range(CASES or FEW):
        text = spoiled(rng, document)
        file.write_bytes(with_fitting_hash(text) if rng.random() < 0.8 else text)
        output = run(file, COMMANDS[number % len(COMMANDS)])
        assert b"\x1b" not in output
        assert b"\x07" not in output


def test_names_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    document, file = recorded(MATCHES[-1]), tmp_path / "match.json"
    document["players"][0]["name"] = "\x1b[2J[red]\u202e"
    file.write_text(json.dumps(document))
    assert rb"\x1b[2J[red]\u202e" in run(file, ("show",))


def test_a_board_that_is_too_large_is_refused(tmp_path: Path) -> None:
    document, file = recorded(MATCHES[2]), tmp_path / "match.json"
    document["frame"] |= {"W": 4096, "H": 4096}
    file.write_text(json.dumps(document))
    assert b"too large for a terminal" in run(file, ("show", "--turn", "0"))
