"""Files appear whole or not at all, and nothing leads out of a folder of others."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cw.errors import Failure
from cw.files import BY_DESCRIPTOR, make_folder, open_folder, write_whole


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


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open folders as this system can, and as Windows does."""
    monkeypatch.setattr("cw.files.BY_DESCRIPTOR", request.param and BY_DESCRIPTOR)


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder of others, beside a secret."""
    (tmp_path / "folder" / "sub").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "folder" / "sub" / "plain").write_text("plain")
    return tmp_path / "folder"


@pytest.mark.usefixtures("ways")
def test_a_folder_of_others_is_read(theirs: Path) -> None:
    with open_folder(theirs) as folder:
        assert [name for name, _ in folder.scan()] == ["sub"]
        assert [name for name, _ in folder.scan("sub")] == ["plain"]
        assert folder.has_file("sub/plain")
        assert not folder.has_file("sub")
        with folder.open("./sub//plain") as file:
            assert file.read() == b"plain"


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize(
    "name",
    ["../secret", "sub/../../secret", "{secret}", "link", "linked/secret", "sub", "a\0b", ""],
)
def test_nothing_is_opened_outside_of_it(theirs: Path, name: str) -> None:
    (theirs / "link").symlink_to(theirs.parent / "secret")
    (theirs / "linked").symlink_to(theirs.parent)
    name = name.format(secret=theirs.parent / "secret")
    with open_folder(theirs) as folder:
        assert not folder.has_file(name)
        with pytest.raises(OSError, match=r"."):
            folder.open(name)
        with pytest.raises(OSError, match=r"."):
            folder.scan("linked")


@pytest.mark.usefixtures("ways")
def test_a_folder_that_becomes_a_link_is_not_followed(theirs: Path) -> None:
    with open_folder(theirs) as folder:
        assert folder.has_file("sub/plain")
        (theirs / "sub").rename(theirs / "before")
        (theirs.parent / "plain").write_text("secret")
        (theirs / "sub").symlink_to(theirs.parent)
        assert not folder.has_file("sub/plain")
        with pytest.raises(OSError, match=r"."):
            folder.open("sub/plain")


@pytest.mark.skipif(os.name != "posix", reason="needs pipes in folders")
def test_a_pipe_holds_nobody_up(theirs: Path) -> None:
    os.mkfifo(theirs / "pipe")
    with open_folder(theirs) as folder, pytest.raises(OSError, match="not a plain file"):
        folder.open("pipe")
