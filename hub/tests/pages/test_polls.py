"""Polls: 304 without a query while nothing has changed, and true with several processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests
from sqlalchemy import event, select, update

from cw_hub.matches import planning
from cw_hub.matches.planning import Plan, Seat
from cw_hub.pages.polls import MOST, Polled, Tags
from cw_hub.store.models import Match
from hub.tests.bots.test_player_bots import do_jobs, register
from hub.tests.conftest import ON_SQLITE
from hub.tests.sites import Site, Visitor, site_on

pytestmark = ON_SQLITE


class Seconds:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds(site: Site) -> Seconds:
    """The clock of the tags of a site."""
    clock = Seconds()
    site.app.extensions["tags"] = Tags(clock)
    return clock


@contextmanager
def statements(site: Site) -> Iterator[list[str]]:
    """Note what the database is asked while the block runs."""
    queries: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement != "BEGIN":
            queries.append(statement)

    event.listen(site.resources.database.engine, "before_cursor_execute", note)
    yield queries
    event.remove(site.resources.database.engine, "before_cursor_execute", note)


def public_match(site: Site) -> str:
    """Plan a match that everybody may see; return its name."""
    seats = tuple(Seat(name, spec=f"builtin:{name}") for name in ("greedy", "random"))
    with site.resources.database.writing() as session:
        row = planning.plan(session, Plan("championship", "one", "hexagon", seats))
        return session.scalars(select(Match.match_id).where(Match.id == row)).one()


def go_on(site: Site, match: str) -> None:
    """Let a match be in another turn."""
    with site.resources.database.writing() as session:
        session.execute(update(Match).where(Match.match_id == match).values(turn=Match.turn + 1))


def poll(visitor: Visitor, match: str, tag: str = "") -> requests.Response:
    return visitor.open(f"/match/{match}/state", headers={"If-None-Match": tag})


def test_who_has_what_there_is_is_told_so_without_a_statement(site: Site) -> None:
    site.app.extensions["tags"] = Tags(Seconds())
    visitor, player, match = site.visitor(), site.player("Ada"), public_match(site)
    tag = poll(visitor, match).headers["ETag"]
    with statements(site) as queries:
        for browser in (visitor, player):
            answer = poll(browser, match, tag)
            assert (answer.status_code, answer.text) == (304, "")
            assert answer.headers["ETag"] == tag
            assert answer.headers["Cache-Control"] == "private, no-cache"
    assert queries == []


def test_news_are_told_a_second_late_at_most(site: Site, seconds: Seconds) -> None:
    visitor, match = site.visitor(), public_match(site)
    tag = poll(visitor, match).headers["ETag"]
    go_on(site, match)
    assert poll(visitor, match, tag).status_code == 304
    seconds.now += 1
    answer = poll(visitor, match, tag)
    assert answer.status_code == 200
    assert answer.headers["ETag"] != tag


def test_news_of_one_process_are_no_step_back_in_another(site: Site, seconds: Seconds) -> None:
    visitor, match = site.visitor(), public_match(site)
    old = poll(visitor, match).headers["ETag"]
    go_on(site, match)
    with site_on(site.resources, site.clock) as other:
        new = poll(other.visitor(), match).headers["ETag"]
    assert new != old
    # This process still has the old tag, and must not answer with it.
    answer = poll(visitor, match, new)
    assert (answer.status_code, answer.headers["ETag"]) == (304, new)
    assert poll(visitor, match, old).status_code == 200


def test_who_asks_anew_gets_what_there_is_now(site: Site, seconds: Seconds) -> None:
    visitor, match = site.visitor(), public_match(site)
    old = poll(visitor, match).headers["ETag"]
    go_on(site, match)
    assert poll(visitor, match).headers["ETag"] != old


def test_a_bot_is_polled_by_its_owner_alone_and_then_one_statement_asks_who(site: Site) -> None:
    site.app.extensions["tags"] = Tags(Seconds())
    site.open_competition("hexagon")
    ann, bob = site.player("Ann"), site.player("Bob")
    register(ann)
    path = "/bot/Swarm/state?game=hexagon"
    first = ann.open(path)
    assert first.json() == {"status": "PENDING", "checked_at": ""}
    tag = {"If-None-Match": first.headers["ETag"]}
    with statements(site) as queries:
        assert ann.open(path, headers=tag).status_code == 304
    assert len(queries) == 1
    assert bob.open(path, headers=tag).status_code == 404
    assert site.visitor().open(path, headers=tag).status_code == 401
    do_jobs(site)
    assert ann.open(path).json()["status"] == "INACTIVE"


def test_tags_are_bounded() -> None:
    tags = Tags(Seconds())
    for number in range(MOST + 1):
        tags.put(str(number), Polled("tag", None))
    assert tags.get("0") is None
    assert tags.get(str(MOST)) == Polled("tag", None)
