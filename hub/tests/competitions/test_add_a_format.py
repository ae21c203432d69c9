"""The format of hub/docs/add-a-format.md, played from that page alone."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
from sqlalchemy import select

from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import Format, format_named, match_types
from cw_hub.matches.jobs import Worker
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import FORMATS
from cw_hub.site.processes import tick
from cw_hub.store.database import Session
from cw_hub.store.models import Match, User
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.documents import DOCS
from hub.tests.sites import Visitor, site_on, words_of
from tests.documented import FILE

NAME = "king-of-the-hill"


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory) -> tuple[Format, ...]:
    """The formats of a site, and that of the page."""
    folder: Path = tmp_path_factory.mktemp("formats")
    for name, text in FILE.findall((DOCS / "add-a-format.md").read_text("utf-8")):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as path:
        path.syspath_prepend(folder)
        added: Format = import_module("king_of_the_hill.format").FORMAT
    return (*FORMATS, added)


def add_bots(session: Session, resources: Resources) -> None:
    user = User(username="ann", username_key="ann", created_at=resources.clock())
    session.add(user)
    session.flush()
    for name, strategy in (("First", "random"), ("Second", "random"), ("Third", "greedy")):
        bots_service.add_builtin(session, user.id, "hexagon", name, strategy)


def is_king(visitor: Visitor, name: str) -> bool:
    return "King of The hill" in words_of(visitor.open(f"/bot/{name}?game=hexagon"))


def matches_of(resources: Resources) -> list[Match]:
    with resources.database.reading() as session:
        return list(session.scalars(select(Match).order_by(Match.id)))


def test_a_format_imports_what_is_promised_alone() -> None:
    page = (DOCS / "add-a-format.md").read_text("utf-8")
    assert {*re.findall(r"^(?:from|import) (cw[\w.]*)", page, re.M)} == {"cw_hub.formats"}


@ON_SQLITE
def test_a_format_is_its_folder_and_its_line(
    resources: Resources, hub_clock: StillClock, formats: tuple[Format, ...]
) -> None:
    worker = Worker("me", 1, match_types(formats))
    with resources.database.writing() as session:
        add_bots(session, resources)
        hill = competitions_service.new(session, NAME, "hexagon", slug="hill", title="The hill")
        added = format_named(formats, NAME)
        assert added is not None
        added.steer(session, hill, "running")
    with site_on(resources, hub_clock, formats) as site:
        visitor = site.visitor()
        assert "The hill waiting for a challenger" in words_of(visitor.open("/"))
        assert "The hill has no king yet" in words_of(visitor.open("/hill/hill"))

        tick(resources, formats)
        tick(resources, formats)
        (first,) = matches_of(resources)
        assert (first.kind, first.players) == (NAME, 2)
        for number in range(2):
            worker.play(resources, matches_of(resources)[number].id)
        played = matches_of(resources)
        assert [match.state for match in played] == ["done", "done"]
        tick(resources, formats)
        assert len(matches_of(resources)) == 2

        page = words_of(visitor.open("/hill/hill"))
        assert "is the king of the hill" in page
        assert "Third" in page.partition("Second")[0]
        kings = [name for name in ("First", "Second", "Third") if is_king(visitor, name)]
        assert len(kings) == 1
        assert f"{kings[0]} is the king of the hill" in page
        assert "First - Second" in visitor.open(f"/match/{played[0].match_id}").text
        assert "First - Second" in words_of(visitor.open("/matches?game=hexagon"))
        answer = visitor.open(f"/api/v1/matches/{played[0].match_id}").json()
        assert answer["kind"] == NAME
    with resources.database.reading() as session:
        assert competitions_service.named(session, f"{NAME}/hill").state == "over"


@ON_SQLITE
def test_the_home_page_shows_who_leads(
    resources: Resources, hub_clock: StillClock, formats: tuple[Format, ...]
) -> None:
    worker = Worker("me", 1, match_types(formats))
    with resources.database.writing() as session:
        add_bots(session, resources)
        hill = competitions_service.new(session, NAME, "hexagon", slug="hill", title="The hill")
        competitions_service.set_state(session, hill.id, "running")
    tick(resources, formats)
    worker.play(resources, matches_of(resources)[0].id)
    with site_on(resources, hub_clock, formats) as site:
        home = site.visitor().open("/")
        assert 'href="/hill/hill"' in home.text
        assert "1 First king" in words_of(home) or "1 Second king" in words_of(home)
