"""What teams hand in, read without trust: zips of all kinds, addresses, keys."""

from __future__ import annotations

import io
import stat
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from cw.errors import UsageError
from cw_hub.competitions.tournament import team_bots, teams
from cw_hub.players import packages
from cw_hub.players.packages import (
    LEADS_OUT,
    LINK,
    NO_FILE,
    NOTHING,
    TOO_LARGE,
    TOO_LARGE_UNPACKED,
    TOO_MANY_FILES,
    UNREADABLE,
    UnfitUpload,
)
from tests.tools import needs_language

BOT = b"print(1)\n"


def zipped(files: dict[str, bytes], **about: int) -> bytes:
    """Return a zip whose entries are as they are said to be."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo("x")
            entry.filename = name
            entry.compress_type = about.get("method", zipfile.ZIP_DEFLATED)
            entry.external_attr = about.get("kind", stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)
    return buffer.getvalue()


def upload(name: str, data: bytes, game: str = "paint") -> tuple[str, ...]:
    with packages.empty_folder() as folder:
        return packages.package(name, data, game, folder).files


def encrypted(data: bytes) -> bytes:
    """Return a zip whose entries say that they are encrypted."""
    content = bytearray(data)
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(sign)
        content[at + offset] |= 1
    return bytes(content)


def lying(data: bytes) -> bytes:
    """Return a zip whose directory says that its files are small."""
    content = bytearray(data)
    at = content.find(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", 10)
    return bytes(content)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("bot.py", b"", NO_FILE),
        ("bot.py", b"#" * (1024 * 1024 + 1), TOO_LARGE),
        ("bot.txt", BOT, NOTHING),
        ("..", BOT, NOTHING),
        ("a.zip", zipped({}), NOTHING),
        ("a.zip", zipped({"readme.md": b"x"}), NOTHING),
        ("a.zip", zipped({"bot.py": BOT, "bot.js": BOT}), NOTHING),
        ("a.zip", zipped({"bot.txt": BOT}), NOTHING),
        ("a.zip", zipped({"team.toml": b'bot = "http://127.0.0.1:22"'}), NOTHING),
        ("a.zip", zipped({"team.toml": b'bot = "builtin:walker"'}), NOTHING),
        ("a.zip", zipped({"../x": BOT, "bot.py": BOT}), LEADS_OUT),
        ("a.zip", zipped({"a/../../x": BOT}), LEADS_OUT),
        ("a.zip", zipped({"/etc/x": BOT}), LEADS_OUT),
        ("a.zip", zipped({"C:\\x": BOT}), LEADS_OUT),
        ("a.zip", zipped({"a\\..\\..\\x": BOT}), LEADS_OUT),
        ("a.zip", zipped({"a//b": BOT}), LEADS_OUT),
        ("a.zip", zipped({"./bot.py": BOT}), LEADS_OUT),
        ("a.zip", zipped({"a\x07b": BOT}), LEADS_OUT),
        ("a.zip", zipped({"/".join("a" * 40): BOT}), LEADS_OUT),
        ("a.zip", zipped({"x" * 300: BOT}), LEADS_OUT),
        ("a.zip", zipped({"bot.py": b"/etc/passwd"}, kind=stat.S_IFLNK | 0o777), LINK),
        ("a.zip", zipped({"bot.py": b""}, kind=stat.S_IFIFO | 0o644), LINK),
        ("a.zip", zipped({f"f{n}": b"" for n in range(201)}), TOO_MANY_FILES),
        ("a.zip", zipped({f".{n}": b"" for n in range(1001)}), TOO_MANY_FILES),
        ("a.zip", zipped({"bot.py": b"\0" * (6 * 1024 * 1024)}), TOO_LARGE_UNPACKED),
        ("a.zip", zipped({f"f{n}": b"\0" * 1024 * 1024 for n in range(6)}), TOO_LARGE_UNPACKED),
        ("a.zip", zipped({"bot.py": BOT}, method=zipfile.ZIP_LZMA), UNREADABLE),
        ("a.zip", encrypted(zipped({"bot.py": BOT})), UNREADABLE),
        ("a.zip", zipped({"bot.py": BOT, "bot.py/x": BOT}), UNREADABLE),
        ("a.zip", zipped({"bot.py": BOT})[:-30], UNREADABLE),
        ("a.zip", b"\xff" * 500, UNREADABLE),
        ("a.zip", b"PK\x03\x04" + b"\xff" * 500, UNREADABLE),
    ],
)
def test_an_upload_that_cannot_be_taken_is_told_why(
    name: str, data: bytes, message: str, tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "folder"
    folder.mkdir(parents=True)
    with pytest.raises(UnfitUpload) as refused:
        packages.package(name, data, "paint", folder)
    assert str(refused.value) == message
    assert [one for one in tmp_path.rglob("*") if not one.is_relative_to(folder)] == [folder.parent]


def test_a_zip_that_lies_about_its_size_is_not_believed() -> None:
    with pytest.raises(UnfitUpload):
        upload("a.zip", lying(zipped({"bot.py": b"\0" * (6 * 1024 * 1024)})))


def test_of_a_bomb_no_more_is_unpacked_than_may_be_there() -> None:
    most, bomb = 1024 * 1024, zipped({"bot.py": b"\0" * (64 * 1024 * 1024)})
    tracemalloc.start()
    try:
        with pytest.raises(UnfitUpload, match=TOO_LARGE_UNPACKED):
            packages.files_of(bomb, packages.Bounds(size=most))
        assert tracemalloc.get_traced_memory()[1] < 16 * most
    finally:
        tracemalloc.stop()


@pytest.mark.thorough
def test_every_cut_and_every_changed_byte_gives_a_sentence_or_a_program() -> None:
    whole = zipped({"bot.py": BOT, "more.txt": b"x"})
    for at in range(len(whole)):
        for data in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]):
            message = told_of(data)
            assert "\n" not in message
            assert "/tmp" not in message


def told_of(data: bytes) -> str:
    """Return what is wrong with a zip, "" if it is taken."""
    try:
        upload("a.zip", data)
    except UnfitUpload as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("name", "data", "game", "files"),
    [
        ("My Bot.PY", BOT, "paint", ("bot.py",)),
        ("game_ai.py", BOT, "circuit-wars", ("game_ai.py",)),
        pytest.param("C:\\folder\\best.js", BOT, "paint", ("bot.js",),
                     marks=needs_language("javascript")),
        ("a.zip", zipped({"my-bot/bot.py": BOT, "my-bot/lib/x.py": b""}), "paint", None),
        ("a.zip", zipped({"bot.py": BOT, "__MACOSX/._bot.py": b"", ".git/config": b""}), "paint",
         ("bot.py",)),
        ("a.zip", zipped({"team.toml": b'run = "python3 main.py"\nusername = "other"',
                          "main.py": BOT}), "paint", ("main.py", "team.toml")),
    ],
)  # fmt: skip
def test_what_can_be_run_is_taken(
    name: str, data: bytes, game: str, files: tuple[str, ...] | None
) -> None:
    assert upload(name, data, game) == (files or ("bot.py", "lib/x.py"))


def test_the_same_files_are_the_same_upload_and_no_name_of_another_is_taken(tmp_path: Path) -> None:
    files = {"team.toml": b'run = "python3 main.py"\nusername = "other"', "main.py": BOT}
    uploads = []
    for number, one in enumerate((files, dict(reversed(files.items())))):
        folder = tmp_path / str(number)
        folder.mkdir()
        uploads.append(packages.package("a.zip", zipped(one), "paint", folder))
    assert uploads[0] == uploads[1]
    again = tmp_path / "again"
    again.mkdir()
    packages.unpack(uploads[0].data, again)
    assert {one.name: one.read_bytes() for one in again.iterdir()} == files
    assert "username" not in packages.program_in(again, "paint").settings


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", team_bots.NO_URL),
        (" \t", team_bots.NO_URL),
        ("javascript:x", team_bots.INVALID_URL),
        ("http://u:p@h/", team_bots.INVALID_URL),
        ("http://@h/", team_bots.INVALID_URL),
        ("ftp://h/", team_bots.INVALID_URL),
        ("http://", team_bots.INVALID_URL),
        ("http://h:0", team_bots.INVALID_URL),
        ("http://h:99999", team_bots.INVALID_URL),
        ("http://h/?q", team_bots.INVALID_URL),
        ("http://[::1", team_bots.INVALID_URL),
        (f"http://h/{'x' * 492}", team_bots.INVALID_URL),
    ],
)
def test_an_address_that_is_none_is_told_so(typed: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        team_bots.read_url(typed)
    assert str(refused.value) == message


def test_an_address_is_kept_as_it_is() -> None:
    assert team_bots.read_url(" http://127.0.0.1:3001 ") == "http://127.0.0.1:3001"
    assert len(team_bots.read_url(f"http://h/{'x' * 491}")) == 500


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGZyZWUgdG8gYmUgYW55IDMyIGJ5dGVzIG9mIGEga2V5"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n", teams.PRIVATE_KEY),
        ("PuTTY-User-Key-File-3: ssh-ed25519", teams.PRIVATE_KEY),
        ("ssh-ed25519", teams.NO_SSH_KEY),
        ("ssh-ed25519 AAAA", teams.NO_SSH_KEY),
        (KEY.replace("ssh-ed25519", "ssh-rsa"), teams.NO_SSH_KEY),
        (f'command="x" {KEY}', teams.NO_SSH_KEY),
        (f"{KEY} \x07", teams.NO_SSH_KEY),
        ("ssh-rsa !!!!", teams.NO_SSH_KEY),
    ],
)
def test_what_is_no_public_key_is_told_so(typed: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        teams.read_ssh_key(typed)
    assert str(refused.value) == message


def test_a_public_key_is_kept_in_one_line() -> None:
    assert teams.read_ssh_key(f" {KEY} me@home\r\n") == f"{KEY} me@home"
    assert teams.read_ssh_key(" ") == ""
