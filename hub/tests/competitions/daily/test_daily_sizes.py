"""Rankings of any length: as many statements for a thousand players as for ten, short pages."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

import pytest
from sqlalchemy import event, select

from cw_hub.accounts import tickets
from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.pages import options_of, row_of
from cw_hub.matches.pages import viewer_of
from cw_hub.pages.polls import Tags
from cw_hub.store.models import Bot, Match, MatchParticipant, User
from hub.bench import daily_history
from hub.tests.sites import Site, Visitor, words_of

GAMES = 12
LARGEST = 60_000
"""Bytes that a page may have, packed, without pictures."""

BY_STATEMENTS = {"/ranking": (6, 11), "/user/player2": (6, 6), "/match/{last}": (4, 4)}
"""How many statements a page may take, for a visitor and for a player."""


class History(NamedTuple):
    """A site where many have played, and a browser of the first of them."""

    site: Site
    last: str
    player: Visitor


def history(site: Site, players: int, games: int = GAMES) -> History:
    resources = site.resources
    with resources.database.writing() as session:
        last = daily_history.write(session, players, games)
        me = session.query(User).filter_by(username="player1").one().id
        ticket = tickets.issue_session(session, me, remembered=False)
    signer: Any = site.app.session_interface.get_signing_serializer(site.app)  # type: ignore[attr-defined]
    visitor = site.visitor()
    visitor.cookies["cw"] = str(signer.dumps({"ticket": ticket}))
    return History(site, last, visitor)


@contextmanager
def counted(site: Site) -> Iterator[list[str]]:
    """Give the statements that the database is asked while the block runs."""
    queries: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if statement != "BEGIN":
            queries.append(statement)

    engine = site.resources.database.engine
    event.listen(engine, "before_cursor_execute", note)
    yield queries
    event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize("players", [10, pytest.param(1000, marks=pytest.mark.thorough)])
def test_pages_ask_as_much_for_a_thousand_as_for_ten(site: Site, players: int) -> None:
    _, last, player = history(site, players)
    costs: dict[str, tuple[int, int]] = {}
    for form in BY_STATEMENTS:
        path = form.format(last=last)
        numbers = []
        for browser in (site.visitor(), player):
            site.app.extensions["tags"] = Tags()
            with counted(site) as seen:
                page = browser.open(path)
            assert page.status_code == 200
            assert len(gzip.compress(page.content)) < LARGEST
            numbers.append(len(seen))
        costs[form] = (numbers[0], numbers[1])
    assert costs == {"/ranking": (6, 11), "/user/player2": (5, 6), "/match/{last}": (2, 4)}
    for form, most in BY_STATEMENTS.items():
        assert costs[form] <= most
    listed = words_of(site.visitor().open("/matches"))
    assert listed.count("1. player") == listed.count("3. player") == GAMES
    assert listed.count(f"and {players - 3} more") == GAMES
    in_api = site.visitor().open("/api/v1/matches").json()["items"]
    assert [len(one["seats"]) for one in in_api] == [3] * GAMES
    people = site.visitor().open(f"/match/{last}/people")
    assert len(people.json()["people"]) == players
    assert len(gzip.compress(people.content)) < LARGEST / 2
    tag = {"If-None-Match": people.headers["ETag"]}
    assert site.visitor().open(f"/match/{last}/people", headers=tag).status_code == 304


@pytest.mark.thorough
def test_what_was_drawn_once_is_drawn_anew_when_a_person_has_changed(site: Site) -> None:
    for remembered in (row_of, options_of, viewer_of):
        remembered.cache_clear()
    _, last, _ = history(site, 3, games=1)
    before = site.visitor().open("/ranking").text
    assert "Japan" not in before
    with site.resources.database.writing() as session:
        session.query(User).filter_by(username="player2").one().country = "JP"
    site.app.extensions["tags"] = Tags()
    assert site.visitor().open("/ranking").text.count("Japan") == 2
    countries = site.visitor().open(f"/match/{last}/people").json()["countries"]
    assert countries["JP"]["name"] == "Japan"


def rows_of(text: str) -> list[tuple[int, int, str]]:
    """Return position, rank and name of the rows in a piece of HTML."""
    matches = re.findall(
        r'data-position="(\d+)".*?<td class="rank"><a[^>]*>(\d+)<.*?loading="lazy">([^<]+)<',
        text,
        re.DOTALL,
    )
    return [(int(position), int(rank), name) for position, rank, name in matches]


def plain_list(site: Site, last: str, country: str) -> list[tuple[int, int, str]]:
    """Return all rows of a ranking as a plain list has them."""
    with site.resources.database.reading() as reading:
        rows = reading.execute(
            select(MatchParticipant.rank, User.id, User.username, User.country)
            .join(Match, Match.id == MatchParticipant.match_id)
            .join(Bot, Bot.id == MatchParticipant.bot_id)
            .join(User, User.id == Bot.user_id)
            .where(Match.match_id == last)
        ).all()
    chosen = sorted(
        (rank or 0, number, name or "") for rank, number, name, of in rows if country in ("all", of)
    )
    return [(position, rank, name) for position, (rank, _, name) in enumerate(chosen, 1)]


@pytest.mark.parametrize("country", ["all", "GR"])
def test_gaps_that_are_opened_in_any_order_give_the_plain_list(site: Site, country: str) -> None:
    players = 60
    _, last, player = history(site, players, games=1)
    with site.resources.database.writing() as session:
        # Half of them are from Greece, and each place is shared by two.
        for user in session.query(User):
            user.country = "GR" if user.id % 2 else "JP"
        for seat in session.query(MatchParticipant):
            seat.rank = (seat.rank or 0) - (seat.rank or 0) % 2 + 1
    expected = plain_list(site, last, country)
    own = next((place for place, _, name in expected if name == "player1"), None)
    random = Random(country)
    for browser in (player, site.visitor()):
        page = browser.open(f"/ranking?country={country}").text
        rows = rows_of(page)
        gap = re.search(r'data-from="(\d+)" data-to="(\d+)"', page)
        first, end = (int(gap[1]), int(gap[2])) if gap else (1, 0)
        while first <= end:
            begin, stop = random.choice([(first, min(first + 9, end)), (max(end - 9, first), end)])
            path = f"/ranking/rows?match={last}&country={country}&from={begin}&to={stop}"
            rows += rows_of(browser.open(path).text)
            first, end = (stop + 1, end) if begin == first else (first, begin - 1)
        number = len(expected)
        visible = rankings.windows(number, own if browser is player else None)[-1][1]
        assert sorted(rows) == expected[:visible]


def test_each_window_is_what_a_plain_list_has(site: Site) -> None:
    _, last, _ = history(site, 23, games=1)
    expected = plain_list(site, last, "all")
    with site.resources.database.reading() as reading:
        game = reading.query(Match).filter_by(match_id=last).one().id
        of = rankings.List(game)
        for position, _, name in expected:
            user = reading.query(User).filter_by(username=name).one().id
            assert rankings.standing(reading, of, user) == (23, position)
            windows = rankings.windows(23, position)
            rows = rankings.place_rows(reading, of, windows, user)
            wanted = [one for begin, end in windows for one in expected[begin - 1 : end]]
            assert [(row.position, row.rank, row.username) for row in rows] == wanted
        beyond = rankings.places(reading, of, 20, 29)
        assert [row.position for row in beyond] == [20, 21, 22, 23]
