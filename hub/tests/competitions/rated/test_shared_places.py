"""Bots with the same score share a place on pages, as they do for ratings; the winner is first."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from sqlalchemy import select

from cw_hub.competitions.rated.ratings import changes_of
from cw_hub.matches.match_types import MatchView
from cw_hub.players.messages import SlotResult
from cw_hub.store.models import Match
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.competitions.rated.test_rated_pages import give_bot
from hub.tests.competitions.rated.test_rating_changes import played_views
from hub.tests.conftest import StillClock
from hub.tests.sites import Site, words_of

NOTE = "the others are ordered by score, and equal scores share a place"


@pytest.fixture
def arena(site: Site, hub_clock: StillClock) -> Arena:
    arena = Arena(site.resources, hub_clock)
    arena.add_people(4)
    return arena


def ended(arena: Arena, size: int, ranks: list[int], scores: list[float]) -> MatchView:
    """Return a match of so many bots that has ended like this."""
    while True:
        arena.clock.advance(600)
        arena.plan()
        for match in arena.queued():
            with arena.resources.database.reading() as session:
                players = session.scalars(select(Match.players).where(Match.id == match)).one()
            if players != size:
                arena.end(match, Random(match))
                continue
            slots = tuple(map(SlotResult, ranks, scores))
            arena.finish(arena.claim(match), slots)
            return played_views(arena)[-1]


def places(words: str, view: MatchView) -> list[str]:
    """Return what stands before the names of the bots on the page of a match."""
    table = words.partition("Places Place Bot Owner")[2]
    return [table.partition(f" {seat.name} ")[0].rsplit(" ", 1)[-1] for seat in view.by_place]


def test_equal_scores_share_a_place_and_half_a_point(arena: Arena, site: Site) -> None:
    view = ended(arena, 3, [3, 1, 2], [2.0, 2.0, 2.0])
    last, first, second = view.seats
    assert [view.result_of(seat.bot or 0) for seat in view.seats] == ["2nd of 3", "won", "2nd of 3"]
    page = words_of(site.visitor().open(f"/match/{view.match_id}"))
    assert places(page, view) == ["1", "2", "2"]
    assert NOTE in page
    changes = {change.name: change for change in changes_of(view)}
    assert changes[first.name].score == 2
    assert changes[last.name].score == changes[second.name].score == 0.5
    level = f"0.5 of 2 points against {first.name} and {second.name}"
    assert f"{level} (level with {second.name} by score)" in changes[last.name].cause
    assert "level" not in changes[first.name].cause
    assert changes[last.name].sentence in page

    rows = words_of(site.visitor().open("/matches"))
    assert f"1. {first.name}" in rows
    assert f"2. {last.name}" in rows
    assert f"3. {last.name}" not in rows
    site.player("Ann")
    give_bot(arena, "Ann", last.name)
    assert "2nd of 3" in words_of(site.visitor().open(f"/bot/{last.name}?game=code-battle"))
    assert arena.differences() == []


def test_a_first_place_is_the_games_to_give(arena: Arena, site: Site) -> None:
    # Two are equal in all that counts; the third has their score, and less energy.
    view = ended(arena, 3, [1, 1, 3], [2.0, 2.0, 2.0])
    results = [view.result_of(seat.bot or 0) for seat in view.seats]
    assert results == ["drawn", "drawn", "3rd of 3"]
    assert {change.score for change in changes_of(view)} == {1.0}
    assert arena.differences() == []


def test_a_winner_by_the_rules_is_first_with_fewer_points(arena: Arena, site: Site) -> None:
    view = ended(arena, 4, [1, 2, 3, 4], [1.0, 5.0, 4.0, 3.0])
    page = words_of(site.visitor().open(f"/match/{view.match_id}"))
    assert places(page, view) == ["1", "2", "3", "4"]
    assert NOTE not in page
    drawn = ended(arena, 3, [1, 1, 1], [3.0, 2.0, 1.0])
    assert {drawn.result_of(seat.bot or 0) for seat in drawn.seats} == {"drawn"}
    assert all("level" not in change.cause for change in changes_of(drawn))
    assert arena.differences() == []


@pytest.mark.parametrize(("place", "words"), [(3, "3rd"), (11, "11th"), (21, "21st"), (22, "22nd")])
def test_a_low_place_is_written_as_an_ordinal(arena: Arena, place: int, words: str) -> None:
    view = ended(arena, 2, [1, 2], [2.0, 1.0])
    seat = replace(view.seats[0], pair_rank=None)
    seats = tuple(replace(seat, bot=rank, rank=rank) for rank in range(1, 31))
    assert replace(view, seats=seats).result_of(place) == f"{words} of 30"
