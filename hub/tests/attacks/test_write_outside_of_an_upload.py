"""A zip whose entries have two names: one that is harmless, and one that leads out of the zip."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from cw_hub.players import packages
from cw_hub.players.packages import LEADS_OUT, UnfitUpload
from hub.tests.attacks.hubs import Hub


def with_second_name(first: str, second: str, data: bytes) -> bytes:
    """Return a zip of a program and a file that also has a name in Unicode (field 0x7075)."""
    name = struct.pack("<BL", 1, zlib.crc32(first.encode())) + second.encode()
    about = zipfile.ZipInfo(first)
    about.extra = struct.pack("<HH", 0x7075, len(name)) + name
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("bot.py", "pass\n")
        packed.writestr(about, data)
    return buffer.getvalue()


def believes_it(data: bytes) -> bool:
    """Return whether the zip module of this Python takes the second name, as from 3.12 on."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return packed.infolist()[-1].filename != "notes.txt"


@pytest.mark.parametrize("absolute", [True, False])
def test_nothing_is_written_elsewhere(tmp_path: Path, absolute: bool) -> None:
    target = tmp_path / "elsewhere" / "stolen"
    second = str(target) if absolute else "../elsewhere/stolen"
    data = with_second_name("notes.txt", second, b"planted")
    folder = tmp_path / "bot"
    folder.mkdir()
    if believes_it(data):
        with pytest.raises(UnfitUpload, match=LEADS_OUT):
            packages.package("bot.zip", data, "paint", folder)
    else:
        assert packages.package("bot.zip", data, "paint", folder).files == ("bot.py", "notes.txt")
    assert not target.exists()


@pytest.mark.thorough
def test_no_upload_writes_into_the_folder_of_a_hub(hub: Hub) -> None:
    target = hub.data / f"planted by {hub.shape}"
    data = with_second_name("notes.txt", str(target), b"planted")
    hub.player("planter").send_zip("Planter", data)
    assert not target.exists()
