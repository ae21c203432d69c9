"""Pictures of competitions, chosen by those who lead them, over real HTTP."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
import requests
from PIL import Image

from cw_hub.accounts.forms import NO_PICTURE
from cw_hub.competitions import service as competitions_service
from hub.tests.conftest import ON_SQLITE
from hub.tests.program import make_admin
from hub.tests.sites import Site, Visitor, words_of
from tests.effort import first_is_fast

pytestmark = ON_SQLITE

NEW = "/competitions/new"

FRESH = {"cookies": {"theme": "dark"}}
"""Asks past what pages remember for visitors."""


@pytest.fixture
def ada(site: Site) -> Visitor:
    """Return an admin."""
    visitor = site.player("Ada")
    make_admin(site, "Ada")
    return visitor


def picture(size: tuple[int, int] = (1600, 1000)) -> bytes:
    """Return a picture of one colour."""
    packed = BytesIO()
    Image.new("RGB", size, "red").save(packed, "PNG")
    return packed.getvalue()


def send(
    ada: Visitor, path: str, on: str, data: bytes | None = None, **form: str
) -> requests.Response:
    """Fill a form with a picture."""
    files = None if data is None else {"picture": ("it.png", data)}
    return ada.send_form(path, {"csrf_token": ada.token(on), **form}, files=files)


def create(ada: Visitor, data: bytes, kind: str, **form: str) -> requests.Response:
    """Create a competition of paint with a picture."""
    on = f"{NEW}?format={kind}&game=paint"
    form |= {"format": kind, "game": "paint", "title": "All paint", "slug": "paint"}
    return send(ada, NEW, on, data, **form)


def digest_of(site: Site, name: str) -> str | None:
    with site.resources.database.reading() as session:
        return competitions_service.named(session, name).picture


def run(site: Site, name: str) -> None:
    with site.resources.database.writing() as session:
        facts = competitions_service.named(session, name)
        competitions_service.set_state(session, facts.id, "running")


@pytest.mark.parametrize(
    ("kind", "pages", "settings"),
    first_is_fast(
        [
            ("daily", ["/ranking?game=paint", "/"], {}),
            ("rated", ["/leaderboard?game=paint", "/"], {}),
            ("cup", ["/cup/paint", "/cup/", "/"], {"bots": "Ann,Bob"}),
        ]
    ),
)
def test_a_picture_is_chosen_with_a_new_competition_and_shown_everywhere(
    site: Site, ada: Visitor, kind: str, pages: list[str], settings: dict[str, str]
) -> None:
    assert create(ada, picture(), kind, **settings).status_code == 303
    digest = digest_of(site, f"{kind}/paint")
    address = f"/avatar/{digest}.webp"
    image = Image.open(BytesIO(site.visitor().open(address).content))
    assert (image.format, image.size) == ("WEBP", (1200, 630))
    shared = f"/competitions/{kind}/paint/picture.png"
    assert site.visitor().open(shared).status_code == 404
    run(site, f"{kind}/paint")
    for page in pages:
        assert f'src="{address}"' in site.visitor().open(page, **FRESH).text, page
    assert site.visitor().open(shared).headers["Location"] == address


def test_what_is_no_picture_makes_no_competition(site: Site, ada: Visitor) -> None:
    answer = create(ada, b"<svg/>", "rated")
    assert (answer.status_code, NO_PICTURE in words_of(answer)) == (422, True)
    assert 'value="All paint"' in answer.text
    with site.resources.database.reading() as session:
        assert competitions_service.everything(session) == []
    assert [*site.resources.objects.keys("avatars")] == []


@pytest.mark.parametrize(
    ("kind", "page", "verb"),
    first_is_fast(
        [
            ("rated", "/competitions/rated/paint", "picture"),
            ("tournament", "/t/paint/host", "picture"),
        ]
    ),
)
def test_a_host_changes_and_removes_it(
    site: Site, ada: Visitor, kind: str, page: str, verb: str
) -> None:
    assert create(ada, picture(), kind).headers["Location"] == page
    first = digest_of(site, f"{kind}/paint")
    assert send(ada, f"{page}/{verb}", page, picture((30, 40))).status_code == 303
    second = digest_of(site, f"{kind}/paint")
    assert None not in (first, second)
    answer = ada.open(page)
    assert "The picture was saved." in words_of(answer)
    assert re.findall('class="banner" src="([^"]+)"', answer.text) == [f"/avatar/{second}.webp"]
    for wrong in (b"", b"no picture", picture((2001, 2000))):
        answer = send(ada, f"{page}/{verb}", page, wrong)
        assert (answer.status_code, NO_PICTURE in words_of(answer)) == (422, True)
    assert digest_of(site, f"{kind}/paint") == second
    assert send(ada, f"{page}/{verb}", page, remove="yes").status_code == 303
    assert digest_of(site, f"{kind}/paint") is None
    assert "Remove picture" not in words_of(ada.open(page))
    log = words_of(ada.open("/admin/log?verb=picture"))
    assert log.count("set picture") == 2
    assert log.count("remove picture") == 1


def test_the_pages_of_a_tournament_show_it(site: Site, ada: Visitor) -> None:
    create(ada, picture(), "tournament", groups="Athens,Lyon")
    ada.fill("/t/paint/host/start", on="/t/paint/host")
    address = f'src="/avatar/{digest_of(site, "tournament/paint")}.webp"'
    for page in ("/t/", "/t/paint/", "/"):
        assert address in site.visitor().open(page, **FRESH).text, page
