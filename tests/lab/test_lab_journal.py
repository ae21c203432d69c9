"""What an experiment keeps on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from cw.errors import UsageError
from cw.lab.journal import BotFaults, MatchLine, opened, read_head

HEAD = {"kind": "comparison", "seed": 3, "bots": ["a", "b"]}
FAULTS = BotFaults("b", {"timeout": 2}, 4, "no line came")
FIRST = MatchLine("pair-0-0", 3, ("a", "b"), (1, None), "abc", (FAULTS,))
SECOND = MatchLine("pair-0-1", 3, ("b", "a"), (1, 1))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "new" / "test.jsonl"
    with opened(place, HEAD) as journal:
        journal.add(FIRST)
        journal.add(SECOND)
    return place


def test_matches_are_there_again(file: Path) -> None:
    with opened(file, HEAD) as journal:
        assert journal.lines == {FIRST.id: FIRST, SECOND.id: SECOND}
    assert read_head(file) == HEAD


def test_a_torn_line_is_cut_off_and_nothing_before_it_is_lost(file: Path) -> None:
    whole = file.read_bytes()
    for cut in range(whole.index(b"\n") + 1, len(whole)):
        file.write_bytes(whole[:cut])
        with opened(file, HEAD) as journal:
            assert list(journal.lines) == [FIRST.id, SECOND.id][: whole[:cut].count(b"\n") - 1]
            journal.add(SECOND)
        with opened(file, HEAD) as journal:
            assert journal.lines[SECOND.id] == SECOND


def test_a_torn_first_line_begins_anew(file: Path) -> None:
    file.write_bytes(b'{"kind": "compar')
    assert read_head(file) == {}
    with opened(file, HEAD) as journal:
        assert not journal.lines
        journal.add(FIRST)
    assert read_head(file) == HEAD


def test_an_experiment_without_a_match_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "test.jsonl"
    with opened(file, HEAD) as journal, pytest.raises(UsageError):
        raise UsageError(f"{len(journal.lines)} matches could be played")
    assert not file.exists()
    with opened(file, HEAD | {"seed": 4}) as journal:
        journal.add(FIRST)
    assert read_head(file) == HEAD | {"seed": 4}


def test_another_experiment_is_refused_by_its_first_difference(file: Path) -> None:
    with pytest.raises(UsageError, match="its seed is 3, not 4; use the same, or another file"):
        opened(file, HEAD | {"seed": 4}).__enter__()
    with pytest.raises(UsageError, match="its more is None, not 1"):
        opened(file, HEAD | {"more": 1}).__enter__()


def test_a_file_in_use_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cw.line_files.PATIENCE", 0)
    with opened(file, HEAD), pytest.raises(UsageError, match="run by another process"):
        opened(file, HEAD).__enter__()


@pytest.mark.parametrize(
    "line", [b"\xff", b"{}", b"[" * 5000, b'{"id": 3}', b'"' + b"x" * (2 << 20)]
)
def test_a_line_that_is_no_match_is_named(file: Path, line: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(line + b"\n")
    with pytest.raises(UsageError, match=r"test.jsonl line 4 is not a match"):
        opened(file, HEAD).__enter__()


@pytest.mark.parametrize("line", [b"\xff", b"[1]", b"[" * 5000, b"nonsense"])
def test_a_file_of_something_else_is_refused_and_left_as_it_was(file: Path, line: bytes) -> None:
    file.write_bytes(line + b"\n")
    with pytest.raises(UsageError, match="is not the header"):
        opened(file, HEAD).__enter__()
    assert file.read_bytes() == line + b"\n"
