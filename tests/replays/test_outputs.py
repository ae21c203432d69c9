"""What bots put out, beside a replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.replays import outputs
from cw.replays.outputs import ENDING, LARGEST, TURNS_ENDING, Output, read_outputs, write_outputs


def texts(replay: Path) -> list[str]:
    return [text for text, _ in read_outputs(replay, 3)]


@pytest.mark.parametrize("name", ["match.json", "match.json.gz", "match.of.two"])
def test_each_seat_has_a_file_unless_it_is_silent(tmp_path: Path, name: str) -> None:
    replay = tmp_path / name
    write_outputs(replay, list(map(Output, ("one\n", "", "three \udc80 \U0001f600"))))
    assert texts(replay) == ["one\n", "", "three ? \U0001f600"]
    assert len(list(tmp_path.iterdir())) == 2
    write_outputs(replay, [Output(), Output("two"), Output()])
    assert texts(replay) == ["", "two", ""]


def test_a_link_is_not_followed_and_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    replay, secret = tmp_path / "match.json", tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    outputs.place(replay, 1, ENDING).symlink_to(secret)
    outputs.place(replay, 2, ENDING).mkdir()
    outputs.place(replay, 3, ENDING).write_bytes(b"x" * (LARGEST + 5) + b"\xff")
    first, second, third = texts(replay)
    assert (first, second, len(third)) == ("", "", LARGEST)


def test_the_turns_of_an_output_are_kept_beside_it(tmp_path: Path) -> None:
    replay = tmp_path / "match.json"
    output = Output("ready\n\u00e4\r\nlast", [(0, 0), (7, 6), (30, 9)])
    write_outputs(replay, [output])
    assert read_outputs(replay, 1) == [output]
    assert output.parts == [(0, "ready\n"), (7, "\u00e4\r\n"), (30, "last")]
    write_outputs(replay, [Output()])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["1", "1 2 3", "1 -2", "a b", "1 2\n\n", f"1 {'9' * 5000}"])
def test_turns_that_cannot_be_read_are_none(text: str, tmp_path: Path) -> None:
    replay = tmp_path / "match.json"
    write_outputs(replay, [Output("hello", [(1, 0)])])
    outputs.place(replay, 1, TURNS_ENDING).write_text(text, encoding="utf-8")
    (output,) = read_outputs(replay, 1)
    assert (output.text, output.parts) == ("hello", [])
