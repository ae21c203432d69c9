"""The picture of a competition is to stop a site, to run in browsers, or to tell a secret."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pytest
import requests
from PIL import Image

from hub.tests.attacks.hubs import RATED, Hub, Player

pytestmark = pytest.mark.thorough

PAGE: Final = f"/competitions/rated/{RATED}"
MARK: Final = b"<script>alert(1)</script>secret of a camera"


def encoded(kind: str, size: tuple[int, int] = (64, 64), **more: object) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, "red").save(buffer, kind, **more)
    return buffer.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, data: bytes, *more: bytes) -> bytes:
    """Return a PNG whose head says how large it is, whatever its data."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = (chunk(b"IHDR", head), *more, chunk(b"IDAT", data), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


def exif() -> Image.Exif:
    about = Image.Exif()
    about[0x010E] = MARK.decode()
    about.get_ifd(0x8825)[2] = (46.0, 31.0, 12.0)
    return about


BOMB: Final = zlib.compress(bytes(60_000_000), 9)

REFUSED: Final[Mapping[str, bytes]] = {
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "svg with an entity": b'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>',
    "html": MARK,
    "gif": encoded("GIF"),
    "bmp": encoded("BMP"),
    "tiff": encoded("TIFF"),
    "ico": encoded("ICO"),
    "pdf": encoded("PDF"),
    "eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) (r) file\n",
    "gif and script": b"GIF89a=1/*" + MARK + b"*/",
    "pixels without end": png(2**31 - 1, 2**31 - 1, b""),
    "pixels over the limit": png(2001, 2000, zlib.compress(bytes(2000 * 6004))),
    "no data": png(64, 64, b""),
    "no width": png(0, 64, BOMB[:100]),
    "cut off": encoded("PNG")[:-30],
    "a bomb of text": png(8, 8, b"", chunk(b"zTXt", b"a\0\0" + BOMB)),
    "a bomb of a profile": png(8, 8, b"", chunk(b"iCCP", b"a\0\0" + BOMB)),
    "six megabytes": encoded("PNG") + bytes(6 * 2**20),
    "nothing": b"",
    "frames": b"\x89PNG\r\n\x1a\n" + chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0)),
    "webp without end": b"RIFF\xff\xff\xff\xffWEBPVP8X\n\0\0\0\x10\0\0\0\xff\xff\xff\xff\xff\xff",
    "jpeg of 65535": encoded("JPEG").replace(b"\x00\x40\x00\x40\x03", b"\xff\xff\xff\xff\x03"),
}
"""What is no picture, or too large a one."""

TAKEN: Final[Mapping[str, bytes]] = {
    "jpeg with a place": encoded("JPEG", exif=exif()),
    "png and html": encoded("PNG") + MARK,
    "jpeg and a zip": encoded("JPEG") + b"PK\x03\x04" + MARK,
    "webp with words": encoded("WEBP", xmp=MARK, exif=exif()),
    "png with words": png(8, 8, zlib.compress(bytes(8 * 25)), chunk(b"tEXt", b"Comment\0" + MARK)),
    "data after the pixels": png(8, 8, zlib.compress(bytes(8 * 25) + MARK)),
    "png with a broken sum": png(8, 8, zlib.compress(bytes(8 * 25)))[:-1] + b"x",
}
"""What is a picture, with something else in it: that does not come out again."""


KINDS: Final = (("a.png", "image/png"), ("../../a.svg", "image/svg+xml"))
"""How a file may be called, whatever it is."""


@dataclass
class Sender:
    """The admin of a hub, with the form of a picture before them."""

    hub: Hub
    admin: Player
    token: str

    def send(self, data: bytes, name: str, kind: str) -> requests.Response:
        files = {"picture": (name, data, kind)}
        return self.admin.send_form(f"{PAGE}/picture", {"csrf_token": self.token}, files=files)

    def shown(self) -> requests.Response:
        return self.hub.visitor().get(f"{self.hub.address}{PAGE}/picture.png")


@pytest.fixture(scope="module")
def sender(hub: Hub) -> Iterator[Sender]:
    admin = hub.player("picturer")
    hub.operate("user", "admin", "picturer")
    yield Sender(hub, admin, admin.token(PAGE))
    assert hub.is_running()
    assert "Traceback" not in hub.logs()


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_picture_is_refused(sender: Sender, what: str) -> None:
    name, kind = KINDS[list(REFUSED).index(what) % len(KINDS)]
    assert sender.send(REFUSED[what], name, kind).status_code in (413, 422)


@pytest.mark.parametrize("what", TAKEN)
def test_nothing_but_pixels_comes_out(sender: Sender, what: str) -> None:
    answer = sender.send(TAKEN[what], "x.html", "text/html")
    assert answer.status_code in (303, 422)
    if answer.status_code == 303:
        picture = sender.shown()
        assert picture.headers["Content-Type"] == "image/webp"
        assert picture.headers["X-Content-Type-Options"] == "nosniff"
        assert b"script" not in picture.content
        assert b"camera" not in picture.content
        opened = Image.open(io.BytesIO(picture.content))
        assert (opened.format, opened.size) == ("WEBP", (1200, 630))
        assert not opened.getexif()


def test_nobody_else_changes_it(hub: Hub) -> None:
    player = hub.player("notanadmin")
    form = {"csrf_token": player.token("/settings")}
    files = {"picture": ("a.png", encoded("PNG"), "image/png")}
    answer = player.send_form(f"{PAGE}/picture", form, files=files)
    assert answer.status_code in (302, 303, 403, 404)
    assert "/login" in answer.headers.get("Location", "/login")
