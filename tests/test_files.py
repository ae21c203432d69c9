"""Files appear whole or not at all."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cw.errors import Failure
from cw.files import make_folder, write_whole


def test_a_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    write_whole(file, b"one")
    write_whole(file, b"two")
    assert file.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [file]


def test_a_failure_leaves_the_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.json"
    write_whole(file, b"one")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Failure, match=r"report\.json cannot be written, .*: No space left"):
        write_whole(file, b"two")
    assert file.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="No such file"):
        write_whole(tmp_path / "none" / "file", b"")


def test_many_writers_leave_one_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    texts = [bytes([letter]) * 100_000 for letter in range(20)]
    with ThreadPoolExecutor(8) as writers:
        list(writers.map(lambda text: write_whole(file, text), texts))
    assert file.read_bytes() in texts
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_cannot_stand_on_a_file(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    with pytest.raises(Failure, match="file/c cannot be created: Not a directory"):
        make_folder(tmp_path / "file" / "c")


def test_a_file_that_somebody_reads_is_replaced_a_moment_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows refuses that in between."""
    monkeypatch.setattr("cw.files.PAUSES", (0.0, 0.0))
    replace, refusals = Path.replace, iter((True, True, False))

    def refusing(self: Path, target: Path) -> Path:
        if next(refusals):
            raise PermissionError(13, "Access is denied")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refusing)
    write_whole(tmp_path / "report.json", b"two")
    assert (tmp_path / "report.json").read_bytes() == b"two"


def test_a_file_that_somebody_keeps_open_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cw.files.PAUSES", (0.0, 0.0))

    def refuse(*_: Path) -> Path:
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(Failure, match=r"report\.json cannot be written, .*: Access is denied"):
        write_whole(tmp_path / "report.json", b"two")
    assert list(tmp_path.iterdir()) == []
