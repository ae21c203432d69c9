"""Pictures of strangers: read apart, bounded before they are decoded, one at a time."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from threading import Event
from unittest.mock import patch

import pytest
import requests
from PIL import Image

from cw.errors import CapacityError, UsageError
from cw_hub.accounts import avatars, picture_reader
from cw_hub.accounts.avatars import Pictures
from cw_hub.accounts.picture_reader import Shape
from cw_hub.operation.resources import Resources
from cw_hub.store.models import User
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.sites import Site, Visitor, site_on, words_of

pytestmark = ON_SQLITE

FIRST = "Please confirm your email address before you choose a picture."


def picture(kind: str, size: tuple[int, int], mode: str = "RGB") -> bytes:
    """Return a picture of one colour, which takes few bytes."""
    packed = BytesIO()
    colour = 1 if mode == "1" else "red"
    Image.new(mode, size, colour).save(packed, kind, lossless=True, method=0)
    return packed.getvalue()


def square_of(data: bytes) -> Image.Image:
    return Image.open(BytesIO(data))


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_four_megapixels_with_transparency_are_read_within_the_bounds(kind: str) -> None:
    webp = square_of(Pictures().read("1", picture(kind, (2000, 2000), "RGBA")))
    assert (webp.format, webp.size) == ("WEBP", (256, 256))


@pytest.mark.parametrize("size", [(2001, 2000), (6000, 4000), (8000, 8000)])
def test_larger_pictures_are_refused_before_they_are_decoded(size: tuple[int, int]) -> None:
    data = picture("PNG", size, "1")
    with (
        patch.object(Image.Image, "load", side_effect=AssertionError("decoded")),
        pytest.raises(ValueError, match="at most 4000000 pixels"),
    ):
        picture_reader.crop(data, "square")


@pytest.mark.thorough
def test_a_canvas_that_its_decoder_would_make_at_once_does_not_fit_into_the_process() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        Pictures().read("1", picture("WEBP", (10_000, 10_000)))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux")
def test_a_decoder_gets_no_more_memory_than_it_needs() -> None:
    program = "import cw_hub.accounts.picture_reader as p; p.limit(); bytearray(p.MEMORY)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert b"MemoryError" in done.stderr


def test_a_process_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    sleeps = (sys.executable, "-c", "import time; time.sleep(600)")
    monkeypatch.setattr(avatars, "READER", sleeps)
    monkeypatch.setattr(avatars, "LONGEST", 0.01)
    with pytest.raises(UsageError, match="within"):
        Pictures().read("1", b"x")


def test_the_process_is_not_given_what_the_hub_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CW_MASTER_KEYS", "k1:secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    shows = "import os; print({k: v for k, v in os.environ.items() if 'secret' in v}, end='')"
    monkeypatch.setattr(avatars, "READER", (sys.executable, "-c", shows))
    assert Pictures().read("1", b"x") == b"{}"


class Slow:
    """Reads a picture when it is told to."""

    def __init__(self) -> None:
        self.begun, self.may_end = Event(), Event()
        self.at_once = self.most_at_once = 0

    def __call__(self, data: bytes, shape: Shape) -> bytes:
        assert shape == "square"
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.set()
        assert self.may_end.wait(60)
        self.at_once -= 1
        return data


def test_one_is_read_at_a_time_for_all_and_few_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, pictures = Slow(), Pictures()
    monkeypatch.setattr(avatars, "read_apart", slow)
    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(pictures.read, "ada", b"ada")
        assert slow.begun.wait(60)
        with pytest.raises(CapacityError, match="Your last picture"):
            pictures.read("ada", b"more")
        answers = [threads.submit(pictures.read, name, name.encode()) for name in "bcdefgh"]
        # Two of the seven wait for the first; the others are told at once to come again.
        refused = list(islice(as_completed(answers, 60), 5))
        slow.may_end.set()
        done = [one.result() for one in answers if one not in refused]
        assert {type(one.exception()) for one in refused} == {CapacityError}
        assert first.result() == b"ada"
    assert (len(refused), len(done), slow.most_at_once) == (5, 2, 1)
    assert pictures.read("ada", b"again") == b"again"


def upload(visitor: Visitor, data: bytes) -> requests.Response:
    return visitor.send_form(
        "/settings/avatar",
        {"csrf_token": visitor.token("/settings")},
        files={"picture": ("me.png", data)},
    )


def test_who_has_confirmed_no_address_chooses_no_picture(
    resources: Resources, hub_clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = replace(resources.settings, public_url="http://127.0.0.1")
    with site_on(replace(resources, settings=public), hub_clock) as site:
        ada = site.player("Ada")
        with monkeypatch.context() as patched:
            patched.setattr(avatars, "READER", ("/none",))
            assert upload(ada, picture("PNG", (30, 30))).status_code == 303
        assert FIRST in words_of(ada.open("/settings"))
        assert avatar_of(site) is None
        with site.resources.database.writing() as session:
            session.get_one(User, 1).email_verified_at = hub_clock()
        upload(ada, picture("PNG", (30, 30)))
        assert avatar_of(site) is not None


def avatar_of(site: Site) -> str | None:
    with site.resources.database.reading() as session:
        return session.get_one(User, 1).avatar


def test_who_comes_too_soon_is_told_so(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, ada = Slow(), site.player("Ada")
    monkeypatch.setattr(avatars, "read_apart", slow)
    other = site.visitor()
    other.log_in("Ada")
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(upload, ada, b"one")
        assert slow.begun.wait(60)
        assert upload(other, b"two").status_code == 303
        slow.may_end.set()
        first.result()
    assert "Your last picture is still being read." in words_of(other.open("/settings"))
