"""Why a rating changed: in sentences, and by the arithmetic of the ratings."""

from __future__ import annotations

from math import pi, sqrt
from random import Random

import pytest
from sqlalchemy import select, update

from cw.league.glicko2 import SCALE, Rating, pair_ranks, rate
from cw_hub.competitions.rated.ratings import RatingChange, change_of_bot, changes_of
from cw_hub.matches import lookup
from cw_hub.matches.match_types import MatchView
from cw_hub.operation.resources import Resources
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.store.models import Match, MatchParticipant
from hub.tests.competitions.rated.test_rated import Arena
from hub.tests.conftest import StillClock
from hub.tests.sites import Site, words_of


def of_two(before: Rating, other: Rating, score: float) -> RatingChange:
    """Return the change of Gopher, which has met Swarm."""
    ranks = {1.0: (1, 2), 0.5: (1, 1), 0.0: (2, 1)}[score]
    after, _ = rate([before, other], ranks)
    expected = 1 / (1 + 10 ** ((other.mu - before.mu) / 400))
    return RatingChange("Gopher", 0, before, after, ["Swarm"], other.mu, score, expected)


GOPHER, SWARM = Rating(1500, 60), Rating(1580, 0.01)

SENTENCES = (
    (
        GOPHER,
        SWARM,
        1.0,
        "Gopher gained 13: a win against Swarm, estimated 80 higher, was expected in 39 of 100"
        " (+13); its deviation stayed 60.",
    ),
    (
        GOPHER,
        SWARM,
        0.5,
        "Gopher gained 2: a draw against Swarm, estimated 80 higher, is 50 of 100 points, and 39"
        " were expected (+2); its deviation stayed 60.",
    ),
    (
        GOPHER,
        SWARM,
        0.0,
        "Gopher lost 8: a loss against Swarm, estimated 80 higher, was expected in 61 of 100"
        " (-8); its deviation stayed 60.",
    ),
    (
        Rating(),
        Rating(phi=0.01),
        0.0,
        "Gopher gained 32: a loss against Swarm, estimated equally strong, was expected in 50 of "
        "100"
        " (-175); its deviation fell from 350 to 247 (+207).",
    ),
)


@pytest.mark.parametrize(("before", "other", "score", "sentence"), SENTENCES)
def test_a_sentence_says_what_was_expected_and_what_it_was_worth(
    before: Rating, other: Rating, score: float, sentence: str
) -> None:
    change = of_two(before, other, score)
    assert change.sentence == sentence
    assert change.by_result + change.by_sureness == change.gain


def test_a_match_of_several_counts_points() -> None:
    before, after = Rating(1500, 80), Rating(1510, 79)
    opponents = ["RusherBot", "SwarmBot", "HunterBot"]
    change = RatingChange("Gopher", 1, before, after, opponents, 1420.4, 2.0, 1.62)
    assert change.sentence == (
        "Gopher gained 12: it earned 2 of 3 points against RusherBot, SwarmBot and HunterBot,"
        " estimated 80 lower on average, and 1.6 were expected (+10); its deviation fell from 80"
        " to 79 (+2)."
    )


def played_views(arena: Arena) -> list[MatchView]:
    """Return all rated matches in their order, with the ratings before them."""
    with arena.resources.database.reading() as session:
        rows = session.scalars(select(Match).where(Match.seq.is_not(None)).order_by(Match.seq))
        return lookup.with_ratings(session, lookup.views_of(session, MATCH_TYPES, rows.all()))


@pytest.fixture
def arena(resources: Resources, hub_clock: StillClock) -> Arena:
    arena = Arena(resources, hub_clock)
    arena.add_people(3)
    arena.play(40, Random(7))
    return arena


def weight(rating: Rating) -> float:
    """Return Glickman's g, written anew."""
    return 1 / sqrt(1 + 3 * (rating.phi / SCALE / pi) ** 2)


def test_what_is_told_is_what_the_ratings_were_made_of(arena: Arena) -> None:
    views, sizes = played_views(arena), set()
    for view in views:
        changes = changes_of(view)
        assert len(changes) == len(view.seats)
        sizes.add(len(changes))
        befores = {change.slot: change.before for change in changes}
        ranks = [seat.pair_rank or 0 for seat in view.seats]
        assert tuple(ranks) == pair_ranks(
            [seat.score or 0 for seat in view.seats],
            ranks.index(1) if ranks.count(1) == 1 else None,
            drawn=set(ranks) == {1},
        )
        afters = rate([befores[slot] for slot in range(len(ranks))], ranks)
        for change in changes:
            after = afters[change.slot]
            assert (change.after.mu, change.after.phi) == pytest.approx((after.mu, after.phi))
            others = [befores[slot] for slot in befores if slot != change.slot]
            if len(others) == 1:
                # Step 7 of Glickman's paper, solved for what was expected.
                surplus = (change.after.mu - change.before.mu) * SCALE / change.after.phi**2
                assert change.surprise == pytest.approx(surplus / weight(others[0]))
    assert {2, 3, 4} <= sizes
    firsts = changes_of(views[0])
    assert all(change.before == Rating() for change in firsts)
    for size in sizes:
        view = next(view for view in views if len(view.seats) == size)
        expected = sum(change.expected for change in changes_of(view))
        assert expected == pytest.approx(size * (size - 1) / 2, abs=0.5)


def test_a_rating_that_does_not_follow_is_not_explained(arena: Arena) -> None:
    last = played_views(arena)[-1]
    bot = last.seats[0].bot or 0
    assert change_of_bot(last, bot) is not None
    with arena.resources.database.writing() as session:
        its = select(Match.id).where(Match.match_id == last.match_id).scalar_subquery()
        seat = (MatchParticipant.match_id == its, MatchParticipant.slot == 0)
        session.execute(update(MatchParticipant).where(*seat).values(mu=MatchParticipant.mu + 1))
    changed = played_views(arena)[-1]
    assert change_of_bot(changed, bot) is None
    assert len(changes_of(changed)) == len(changed.seats) - 1


def test_pages_say_why(arena: Arena, site: Site) -> None:
    view = played_views(arena)[-1]
    change = changes_of(view)[0]
    visitor = site.visitor()
    words = words_of(visitor.open(f"/match/{view.match_id}"))
    assert f"Why the ratings changed {change.sentence}" in words
    assert f"{change.expected:.2f}" in words
    page = words_of(visitor.open(f"/bot/{change.name}"))
    assert f"{change.gain:+d} {round(change.after.shown_rating)} {change.sentence}" in page
