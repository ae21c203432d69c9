"""Zips that say one thing and hold another: too much, too many, twice, or outside of the folder."""

from __future__ import annotations

import io
import struct
import zipfile
from copy import copy

import pytest

from hub.tests.attacks.hubs import Hub
from hub.tests.sites import words_of
from tests.processes import forget_peak, peak_memory
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [pytest.mark.thorough, NEEDS_BUBBLEWRAP]

MIB = 1024 * 1024
MOST = 100 * MIB
"""Bytes that the pages may need more than before, for all of these requests."""


def bomb() -> bytes:
    """Return a zip of 300 MiB of zeros."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("bot.py", "w") as file,
    ):
        for _ in range(300):
            file.write(bytes(MIB))
    return buffer.getvalue()


def overlapping() -> bytes:
    """Return a zip of which 190 names stand for the same 4 MiB of zeros."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("bot.py", bytes(4 * MIB))
        for number in range(190):
            entry = copy(packed.filelist[0])
            entry.filename = entry.orig_filename = f"{number}.py"
            packed.filelist.append(entry)
    return buffer.getvalue()


def directory(number: int, said: int) -> bytes:
    """Return a zip that is nothing but a directory, which says how many entries it has."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 0, 20, *([0] * 8), 1, *([0] * 6))
    entries = (entry + b"a") * number
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, said, said, len(entries), 0, 0)
    return b"PK\x03\x04" + entries + end


def named(*names: str) -> bytes:
    """Return a zip of files with these names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name in names:
            packed.writestr(zipfile.ZipInfo(name), "print('ready')")
    return buffer.getvalue()


def understated() -> bytes:
    """Return a zip whose directory says that its file is empty."""
    data = bytearray(named("bot.py"))
    at = data.index(b"PK\x01\x02")
    data[at + 20 : at + 28] = bytes(8)
    return bytes(data)


ZIPS = {
    "a bomb": (bomb, "larger than 5 MiB together"),
    "the same bytes many times": (overlapping, "The "),
    "a directory of 20,000 entries": (lambda: directory(20_000, 20_000), "more than 200 files"),
    "entries that are not counted": (lambda: directory(20_000, 1), "more than 200 files"),
    "a path out of it": (lambda: named("bot.py", "../bot.py"), "leads out of it"),
    "an absolute path": (lambda: named("bot.py", "/bot.py"), "leads out of it"),
    "a deep path": (lambda: named("bot.py", "a/" * 20 + "b"), "leads out of it"),
    "a file that is a folder": (lambda: named("bot.py", "bot.py/a"), "cannot be read"),
    "a file twice": (lambda: named("bot.py", "bot.py"), "cannot be read"),
    "a size that is wrong": (understated, "The zip cannot be read"),
    "no end": (lambda: named("bot.py")[:-30], "The zip cannot be read"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_pages_refuse_it_with_a_sentence_in_little_memory(hub: Hub) -> None:
    player, pages = hub.player("zipper"), hub.processes[0].process.pid
    forget_peak(pages)
    before = peak_memory(pages)
    for number, (make, sentence) in enumerate(ZIPS.values()):
        answer = player.send_zip(f"Zip{number}", make())
        assert (answer.status_code, sentence in words_of(answer)) == (422, True), words_of(answer)
    assert peak_memory(pages) - before < MOST
    assert hub.visitor().open("/").status_code == 200
