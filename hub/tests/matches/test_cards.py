"""The pictures of matches that other sites show beside a link."""

from __future__ import annotations

import io
from threading import Event, Thread

import pytest
from PIL import Image
from sqlalchemy import select

from cw_hub.matches import link_previews
from cw_hub.matches.jobs import Worker
from cw_hub.matches.link_previews import Cards
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Match, MatchParticipant
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.sites import Site
from tests.patience import SECONDS

pytestmark = ON_SQLITE


def test_a_match_that_is_over_is_shared_with_its_last_turn(
    site: Site, resources: Resources, hub_clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_previews, "LONGEST", SECONDS)
    site.app.extensions["cards"] = Cards(patience=SECONDS)
    arena = Arena(resources, hub_clock, options={"max_turns": 12})
    arena.plan()
    match, *_ = arena.queued()
    name = arena.scalar(select(Match.match_id).where(Match.id == match))
    picture = f"/match/{name}/picture.png"
    visitor = site.visitor()
    early = visitor.open(picture)
    assert (early.status_code, early.headers["Cache-Control"]) == (302, "no-store")
    assert early.headers["Location"].endswith("/games/code-battle.png")
    assert picture not in visitor.open(f"/match/{name}").text
    Worker("me", 1, MATCH_TYPES).play(resources, match)
    for page in (f"/match/{name}", f"/replay/{name}"):
        assert f'content="{site.resources.settings.address}{picture}"' in visitor.open(page).text
    bot = arena.scalar(select(MatchParticipant.name).where(MatchParticipant.match_id == match))
    for page, shared in (
        ("/leaderboard?game=code-battle", "/competitions/rated/code-battle/picture.png"),
        (f"/bot/{bot}", f"/bot/{bot}/picture.png?game=code-battle"),
    ):
        address = f'content="{site.resources.settings.address}{shared}"'
        assert address in visitor.open(page, cookies={"theme": "dark"}).text
        assert visitor.open(shared).headers["Location"].endswith(picture)
    answer = visitor.open(picture)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
    with Image.open(io.BytesIO(answer.content)) as image:
        assert min(image.size) > 400


def test_a_picture_is_painted_once_and_nobody_waits_for_that_of_another() -> None:
    begun, may_end, calls = Event(), Event(), []

    def paint(replay: bytes) -> bytes:
        calls.append(replay)
        begun.set()
        assert may_end.wait(SECONDS)
        return b"" if replay == b"broken" else b"picture"

    shared = Cards(paint, SECONDS)
    first = Thread(target=shared.find, args=("a", lambda: b"replay"))
    first.start()
    assert begun.wait(SECONDS)
    assert shared.find("b", lambda: b"broken") is None
    may_end.set()
    first.join(SECONDS)
    for _ in range(2):
        assert shared.find("a", lambda: b"replay") == b"picture"
        assert shared.find("b", lambda: b"broken") == b""
    assert calls == [b"replay", b"broken"]
