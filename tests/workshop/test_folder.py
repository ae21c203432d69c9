"""The files of a bot: only those of its folder are read and written, and nothing is overwritten."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path, PureWindowsPath

import pytest

from cw.errors import UsageError
from cw.workshop.project import LARGEST_FILE, MOST_FILES, NAME, BotFolder, ChangedMeanwhile


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> BotFolder:
    place = tmp_path / "bot"
    place.mkdir()
    (place / "bot.py").write_text("one\n")
    return BotFolder(place)


def test_a_file_is_read_and_saved_with_what_it_was(folder: BotFolder) -> None:
    file = folder.read("bot.py")
    assert (file.text, file.digest) == ("one\n", digest("one\n"))
    saved = folder.save("bot.py", "two\n", file.digest)
    assert folder.read("bot.py") == saved
    assert saved.digest == digest("two\n")


def test_what_another_editor_wrote_is_never_overwritten(folder: BotFolder) -> None:
    base = folder.read("bot.py").digest
    (folder.place / "bot.py").write_text("theirs\n")
    with pytest.raises(ChangedMeanwhile) as refused:
        folder.save("bot.py", "mine\n", base)
    assert refused.value.now == folder.read("bot.py")
    assert folder.read("bot.py").text == "theirs\n"


def test_a_new_file_takes_no_place_of_another(folder: BotFolder) -> None:
    folder.save("new.py", "x", "")
    with pytest.raises(ChangedMeanwhile):
        folder.save("new.py", "y", "")
    (folder.place / "new.py").unlink()
    with pytest.raises(ChangedMeanwhile) as refused:
        folder.save("new.py", "y", digest("x"))
    assert refused.value.now is None


def test_a_link_is_neither_listed_nor_read_nor_written(folder: BotFolder, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (folder.place / "link.txt").symlink_to(secret)
    (folder.place / "gone.txt").symlink_to(tmp_path / "nowhere")
    assert [file.name for file in folder.files()] == ["bot.py"]
    for name in ("link.txt", "gone.txt"):
        with pytest.raises(UsageError):
            folder.read(name)
        for base in ("", digest("secret")):
            with pytest.raises(UsageError):
                folder.save(name, "mine", base)
    assert secret.read_text() == "secret"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "name",
    [
        *("../out.py", "/etc/passwd", "a/b.py", "a\\b.py", ".hidden", "..", "", "x\0y", "n" * 200),
        *("C:out.py", "bot.py:stream", "a*.py", "what?.py", "bot.py "),
        *("nul", "NUL.txt", "con.tar.gz", "com1.py", "aux .py"),
    ],
)
def test_a_name_leads_nowhere_else(folder: BotFolder, name: str) -> None:
    with pytest.raises(UsageError):
        folder.read(name)
    with pytest.raises(UsageError):
        folder.save(name, "x", "")
    assert sorted(path.name for path in folder.place.parent.iterdir()) == ["bot"]


def test_what_is_no_text_of_a_bot_is_left_alone(folder: BotFolder) -> None:
    (folder.place / "data.bin").write_bytes(b"\xff\xfe\x00")
    (folder.place / "large.py").write_bytes(b"x" * (LARGEST_FILE + 1))
    (folder.place / "folder").mkdir()
    os.mkfifo(folder.place / "pipe.py")
    (folder.place / "bot").write_text("built")
    assert [file.name for file in folder.files()] == ["bot.py"]
    for name in ("data.bin", "large.py", "folder", "pipe.py"):
        with pytest.raises(UsageError):
            folder.read(name)
        with pytest.raises(UsageError):
            folder.save(name, "x", "")


def test_sizes_and_numbers_are_bounded(folder: BotFolder) -> None:
    with pytest.raises(UsageError, match="at most"):
        folder.save("new.py", "x" * (LARGEST_FILE + 1), "")
    with pytest.raises(UsageError, match="UTF-8"):
        folder.save("new.py", "\ud800", "")
    for number in range(MOST_FILES):
        (folder.place / f"f{number}.py").touch()
    assert len(folder.files()) == MOST_FILES


def test_line_ends_and_permissions_stay(folder: BotFolder) -> None:
    path = folder.place / "run.sh"
    path.write_bytes(b"a\r\nb\r\n")
    path.chmod(0o755)
    file = folder.read("run.sh")
    assert file.text == "a\nb\n"
    saved = folder.save("run.sh", "a\nc\n", file.digest)
    assert path.read_bytes() == b"a\r\nc\r\n"
    assert path.stat().st_mode & 0o777 == 0o755
    assert folder.save("run.sh", "d\n", saved.digest).returns


@pytest.mark.parametrize(
    "name", ["console.py", "com.py", "nulls", "aux-bot.py", "Bot 2.java", "é.py"]
)
def test_a_name_that_only_resembles_a_device_is_one_of_a_file(name: str) -> None:
    assert NAME.fullmatch(name)
    assert (PureWindowsPath("D:\\bot") / name).parent == PureWindowsPath("D:\\bot")
