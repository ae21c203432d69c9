"""The Settings page over real HTTP: profile, picture, password, and the end of an account."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO

import pytest
import requests
from PIL import Image
from sqlalchemy import select

from cw_hub.context import utc_now
from cw_hub.site.processes import keep_in_order
from cw_hub.store.models import Bot, Match, MatchParticipant, User
from hub.tests.conftest import ON_BOTH, ON_SQLITE
from hub.tests.sites import PASSWORD, Site, Visitor, by_clock, words_of

pytestmark = ON_SQLITE

NO_PICTURE = "Please choose a PNG, JPEG or WebP image of at most 5 MB and 4 megapixels"


def picture(kind: str, size: tuple[int, int], **more: object) -> bytes:
    """Return a picture that is red on its left and blue on its right."""
    image = Image.new("RGB", size, "blue")
    image.paste("red", (0, 0, size[0] // 2, size[1]))
    packed = BytesIO()
    image.save(packed, kind, **more)
    return packed.getvalue()


def colour_at(image: Image.Image, x: int, y: int) -> str:
    """Return whether a point is red or blue."""
    point = image.convert("RGB").crop((x, y, x + 1, y + 1)).tobytes()
    return "red" if point[0] > point[2] + 100 else "blue" if point[2] > point[0] + 100 else "?"


def upload(visitor: Visitor, data: bytes) -> requests.Response:
    """Choose a picture."""
    return visitor.send_form(
        "/settings/avatar",
        {"csrf_token": visitor.token("/settings")},
        files={"picture": ("me.png", data)},
    )


def avatar_of(visitor: Visitor) -> str:
    """Return the address of the picture on the page."""
    match = re.search(r'class="portrait" src="([^"]+)"', visitor.open("/settings").text)
    assert match
    return match[1]


def change(visitor: Visitor, old: str, new: str, repeat: str | None = None) -> requests.Response:
    """Fill the modal that changes the password."""
    return visitor.fill(
        "/settings/password",
        on="/settings",
        old_password=old,
        password=new,
        password_repeat=new if repeat is None else repeat,
    )


# Profile


def test_the_page_has_its_parts_in_order(site: Site) -> None:
    words = words_of(site.player("Ada").open("/settings"))
    parts = (
        "Change profile picture...",
        "Country Prefer not to disclose Afghanistan",
        "Date of Birth Save settings",
        "Email ada@example.org not confirmed Resend confirmation link",
        "Your data Everything this site stores about you and your bots, as JSON in a zip "
        "file. Download",
        "Change password... Delete account",
        "Change password Cancel Old password New password New password (repeat) Change password",
        "Account deletion cannot be undone. All your scores will be lost! Password Delete account",
    )
    places = [words.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_country_and_date_are_kept_and_taken_back(site: Site) -> None:
    ada = site.player("Ada")
    answer = ada.fill("/settings", country="GR", born="1990-12-10")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/settings")
    page = ada.open("/settings")
    assert "Your settings were saved" in page.text
    assert re.search(r'<option value="GR" selected[^>]*>Greece', page.text)
    assert 'value="1990-12-10"' in page.text
    ada.fill("/settings", country="", born="")
    page = ada.open("/settings")
    assert "selected" not in page.text
    assert 'id="born" name="born" value=""' in page.text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"country": "ZZ"}, "Please choose a country from the list"),
        ({"born": "2026-02-30"}, "Please enter a valid date"),
        ({"born": "2026-11-21"}, "Please enter a valid date"),
        ({"born": "1899-12-31"}, "Please enter a valid date"),
    ],
)
def test_what_cannot_be_is_refused(site: Site, values: dict[str, str], words: str) -> None:
    ada = site.player("Ada")
    ada.fill("/settings", country="GR", born="1990-12-10")
    page = ada.fill("/settings", **{"country": "CH", "born": "1991-01-01"} | values)
    assert page.status_code == 422
    assert words in page.text
    page_text = ada.open("/settings").text
    assert re.search(r'<option value="GR"[^>]* selected', page_text)
    assert 'value="1990-12-10"' in page_text


# The picture


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_becomes_a_square_of_webp(site: Site, kind: str) -> None:
    ada = site.player("Ada")
    answer = upload(ada, picture(kind, (300, 200)))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/settings")
    assert "Your profile picture was changed" in ada.open("/settings").text
    response = site.visitor().open(avatar_of(ada))
    assert response.headers["Content-Type"] == "image/webp"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Set-Cookie" not in response.headers
    image = Image.open(BytesIO(response.content))
    assert (image.format, image.size) == ("WEBP", (256, 256))


def test_a_photo_is_turned_and_loses_its_place(site: Site) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (46.0, 31.0, 12.0)
    ada = site.player("Ada")
    upload(ada, picture("JPEG", (2400, 1600), exif=exif))
    data = site.visitor().open(avatar_of(ada)).content
    assert b"EXIF" not in data
    image = Image.open(BytesIO(data))
    assert image.size == (256, 256)
    assert not image.getexif()
    assert colour_at(image, 128, 20) == "red"
    assert colour_at(image, 128, 235) == "blue"


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"",
        lambda: b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        lambda: picture("PNG", (300, 300))[:-40],
        lambda: picture("GIF", (30, 30)),
        lambda: picture("PNG", (6000, 6000)),
        lambda: picture("PNG", (30, 30)) + b"\0" * (6 * 1024 * 1024),
    ],
    ids=["nothing", "svg", "cut-off", "gif", "36 megapixels", "6 MiB"],
)
def test_what_is_no_picture_changes_nothing(site: Site, make: Callable[[], bytes]) -> None:
    ada = site.player("Ada")
    upload(ada, picture("PNG", (30, 30)))
    before = avatar_of(ada)
    assert upload(ada, make()).status_code == 303
    assert NO_PICTURE in ada.open("/settings").text
    assert avatar_of(ada) == before


@pytest.mark.parametrize("name", ["0" * 64, "x", "../secret", "A" * 64])
def test_there_is_no_other_picture(site: Site, name: str) -> None:
    assert site.visitor().open(f"/avatar/{name}.webp").status_code == 404


# The password


@ON_BOTH
def test_changing_the_password_needs_the_old_one(site: Site) -> None:
    ada = site.player("Ada")
    for old, text in (
        ("", "Please enter your existing password"),
        ("wrong", "Your password is incorrect"),
    ):
        answer = change(ada, old, "123456")
        assert answer.status_code == 422
        assert answer.json() == {"errors": {"old_password": text}}
    assert site.visitor().log_in("Ada").headers["Location"] == "/ranking"


@pytest.mark.parametrize(
    ("new", "repeat", "errors"),
    [
        ("", "", {"password": "Please enter a new password"}),
        ("12345", "12345", {"password": "Your new password must be at least 6 characters long"}),
        (
            "1" * 129,
            "1" * 129,
            {"password": "Your new password must be at most 128 characters long"},
        ),
        ("123456", "1234567", {"password_repeat": "Your two passwords do not match"}),
    ],
)
def test_the_new_password_is_checked_before_the_old_one_is(
    site: Site, new: str, repeat: str, errors: dict[str, str]
) -> None:
    answer = change(site.player("Ada"), "wrong", new, repeat)
    assert answer.status_code == 422
    assert answer.json() == {"errors": errors}


def test_a_new_password_ends_the_sessions_of_other_browsers_and_all_links(site: Site) -> None:
    ada, others = site.player("Ada"), [site.visitor(), site.visitor()]
    for other in others:
        other.log_in("Ada")
    site.visitor().fill("/forgot", username="Ada")
    site.do_jobs()
    answer = change(ada, PASSWORD, "123456")
    assert answer.status_code == 200
    assert answer.json() == {"next": "/settings"}
    assert "Your password was changed successfully" in ada.open("/settings").text
    assert [visitor.is_player() for visitor in (ada, *others)] == [True, False, False]
    assert site.visitor().open(site.link()).status_code == 410
    assert site.visitor().log_in("Ada", "123456").headers["Location"] == "/ranking"


# The end


def test_old_games_show_that_their_player_was_deleted_and_no_rank_moves(site: Site) -> None:
    ada = site.player("Ada")
    upload(ada, picture("PNG", (30, 30)))
    digest = avatar_of(ada)
    with site.resources.database.writing() as session:
        bot = Bot(
            bot_id="b_00000001",
            game="code-battle",
            user_id=1,
            name="fast",
            name_key="fast",
            kind="url",
            endpoint="http://127.0.0.1:1",
            created_at=site.clock(),
        )
        match = Match(
            match_id="m_00000001",
            kind="rated",
            key="1",
            game="code-battle",
            players=1,
            seed=1,
            state="void",
            at=site.clock(),
        )
        session.add_all((bot, match))
        session.flush()
        session.add(MatchParticipant(match_id=match.id, slot=0, bot_id=bot.id, name="fast", rank=1))
    visitor = site.visitor()
    before = visitor.open("/match/m_00000001")
    assert "1 fast Ada" in words_of(before)
    assert f'<img src="{digest}"' in before.text
    ada.fill("/settings/delete", on="/settings", password=PASSWORD)
    after = visitor.open("/match/m_00000001")
    assert "1 fast deleted player" in words_of(after)
    assert "Ada" not in after.text
    assert "/user/" not in after.text


@pytest.mark.parametrize("password", ["", "wrong"])
def test_an_account_is_not_deleted_with_a_wrong_password(site: Site, password: str) -> None:
    ada = site.player("Ada")
    answer = ada.fill("/settings/delete", on="/settings", password=password)
    assert answer.status_code == 422
    assert answer.json() == {"errors": {"password": "Your password is incorrect"}}
    assert ada.is_player()


@ON_BOTH
def test_who_deletes_the_account_is_a_visitor_and_gone(site: Site) -> None:
    ada, bob = site.player("Ada"), site.player("Bob")
    bob.fill("/user/Ada/friend", on="/user/Ada")
    other = site.visitor()
    other.log_in("Ada")
    answer = ada.fill("/settings/delete", on="/settings", password=PASSWORD)
    assert answer.json() == {"next": "/ranking"}
    page = ada.open("/ranking")
    assert "Your account was deleted" in page.text
    assert "Log in" in page.text
    assert not ada.is_player()
    assert not other.is_player()
    assert site.visitor().open("/user/Ada").status_code == 404
    with site.resources.database.reading() as session:
        (row,) = session.scalars(select(User).where(User.deleted_at.is_not(None)))
    assert (row.username, row.email, row.password_hash) == (None, None, None)
    refused = site.visitor().register("ADA")
    assert refused.status_code == 422
    assert "This username is already taken" in refused.text


@ON_BOTH
def test_the_picture_of_a_deleted_account_goes_with_the_upkeep(site: Site) -> None:
    ada = site.player("Ada")
    upload(ada, picture("PNG", (30, 30)))
    address = avatar_of(ada)
    ada.fill("/settings/delete", on="/settings", password=PASSWORD)
    assert site.visitor().open(address).status_code == 200
    keep_in_order(by_clock(site.resources, lambda: utc_now() + timedelta(days=3)))
    assert site.visitor().open(address).status_code == 404
