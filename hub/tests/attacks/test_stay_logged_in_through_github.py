"""Who has taken over a session connects no GitHub account, which would outlive the session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from hub.tests.attacks.hubs import Hub, open_hub
from hub.tests.github_server import CLIENT, SECRET, GitHub, served_github
from hub.tests.sites import PASSWORD, Visitor, words_of

pytestmark = pytest.mark.thorough


@pytest.fixture
def github() -> Iterator[GitHub]:
    with served_github() as github:
        yield github


@pytest.fixture
def with_github(tmp_path: Path, github: GitHub) -> Iterator[Hub]:
    """A hub that is set up for GitHub."""
    settings = {
        "CW_GITHUB_ID": CLIENT,
        "CW_GITHUB_SECRET": SECRET,
        "CW_GITHUB_URL": github.address,
        "CW_GITHUB_API": github.address,
    }
    with open_hub("one server", tmp_path, **settings) as hub:
        yield hub


def go_through_github(visitor: Visitor) -> None:
    """Begin; log in at GitHub and come back, if one is led there."""
    there = visitor.open("/login/github").headers["Location"]
    if there.startswith("http"):
        back = requests.get(there, allow_redirects=False, timeout=60).headers["Location"]
        visitor.open(f"/login/github/callback?{back.partition('?')[2]}")


def test_a_stolen_session_is_no_way_in_through_github(with_github: Hub) -> None:
    victim, thief = with_github.player("victim"), with_github.visitor()
    thief.cookies.update(victim.cookies)
    go_through_github(thief)
    for guess in ("", "guess"):
        refused = thief.fill("/settings/github/connect", on="/settings", github_password=guess)
        assert refused.status_code != 200
        go_through_github(thief)
    change = {
        "csrf_token": victim.token("/settings"),
        "old_password": PASSWORD,
        "password": "another horse battery",
        "password_repeat": "another horse battery",
    }
    assert victim.send_form("/settings/password", change).status_code == 200
    assert not thief.is_player()
    later = with_github.visitor()
    go_through_github(later)
    assert not later.is_player()


def test_a_stolen_session_disconnects_nobody_nor_guesses_the_password(with_github: Hub) -> None:
    victim, thief = with_github.player("connected"), with_github.visitor()
    right = {"github_password": PASSWORD}
    page = victim.fill("/settings/github/connect", on="/settings", **right)
    assert "Continue to GitHub" in words_of(page)
    go_through_github(victim)
    thief.cookies.update(victim.cookies)
    paths = ("/settings/github", "/settings/github/connect")
    codes = [
        thief.fill(paths[number % 2], on="/settings", github_password=f"no{number}").status_code
        for number in range(12)
    ]
    assert codes[0] == 422
    assert codes[-1] == 429
    later = with_github.visitor()
    go_through_github(later)
    assert later.is_player()
