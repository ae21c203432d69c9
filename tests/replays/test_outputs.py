"""What bots put out, beside a replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.replays import outputs
from cw.replays.outputs import LARGEST, read_outputs, write_outputs


@pytest.mark.parametrize("name", ["match.json", "match.json.gz", "match.of.two"])
def test_each_seat_has_a_file_unless_it_is_silent(tmp_path: Path, name: str) -> None:
    replay = tmp_path / name
    write_outputs(replay, ["one\n", "", "three \udc80 \U0001f600"])
    assert read_outputs(replay, 3) == ["one\n", "", "three ? \U0001f600"]
    assert len(list(tmp_path.iterdir())) == 2
    write_outputs(replay, ["", "two", ""])
    assert read_outputs(replay, 3) == ["", "two", ""]


def test_a_link_is_not_followed_and_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    replay, secret = tmp_path / "match.json", tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    outputs.place(replay, 1).symlink_to(secret)
    outputs.place(replay, 2).mkdir()
    outputs.place(replay, 3).write_bytes(b"x" * (LARGEST + 5) + b"\xff")
    first, second, third = read_outputs(replay, 3)
    assert (first, second, len(third)) == ("", "", LARGEST)
