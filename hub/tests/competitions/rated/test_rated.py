"""Rated competitions: bots are paired, play one match at a time, and are rated in one order."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select, update

from cw_hub.bots import service as bots_service
from cw_hub.cli import hub
from cw_hub.competitions.rated import pairing, ratings
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches import planning, results
from cw_hub.matches.jobs import Worker
from cw_hub.matches.results import BattleResult, Claim
from cw_hub.operation import scheduler
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import SlotResult
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import begin_site, tick
from cw_hub.store.models import (
    Bot,
    Competition,
    Map,
    Match,
    MatchParticipant,
    Rating,
    RatingTotal,
    User,
)
from hub.tests.conftest import StillClock

LEASE = timedelta(minutes=10)


def test_a_match_without_a_crash_ends_a_row_of_crashes(hub_clock: StillClock) -> None:
    book, streaks = ratings.Book(), []
    for crashed in (True, True, False, True):
        seated = [ratings.Seated(1, 1, 5.0, crashed), ratings.Seated(2, 2, 4.0, crashed=False)]
        book.enter(seated, hub_clock())
        streaks.append([book.standings[bot].crash_streak for bot in (1, 2)])
    assert streaks == [[1, 0], [2, 0], [0, 0], [1, 0]]


class Arena:
    """A site with a rated competition, whose matches end as the test says."""

    def __init__(self, resources: Resources, clock: StillClock, **settings: Any) -> None:
        self.resources, self.clock = resources, clock
        begin_site(resources, **{"house_plays": True, "rest": 0, **settings})
        self.see_worker(2)

    def see_worker(self, slots: int) -> None:
        with self.resources.database.writing() as session:
            scheduler.see_worker(session, f"worker-{slots}", "1", slots)

    def add_people(self, number: int) -> None:
        """Add people, each with a bot that needs no service."""
        with self.resources.database.writing() as session:
            for one in range(number):
                name = f"user{one}"
                user = User(username=name, username_key=name, created_at=self.clock())
                session.add(user)
                session.flush()
                bot = bots_service.add_builtin(
                    session, user.id, "code-battle", f"bot-{one}", "random"
                )
                rated_service.enter(session, bot)

    def plan(self) -> int:
        with self.resources.database.writing() as session:
            return pairing.plan(session)

    def queued(self) -> list[int]:
        with self.resources.database.reading() as session:
            waiting = (
                select(Match.id)
                .where(Match.state == "queued", Match.kind == "rated")
                .order_by(Match.id)
            )
            return list(session.scalars(waiting))

    def end(self, match: int, rng: Random) -> None:
        """Let a match end, with results by chance."""
        claim = self.claim(match)
        scores = [float(rng.randrange(4)) for _ in claim.seats]
        ranks = [1 + sum(other > score for other in scores) for score in scores]
        crash = [{"kind": "crashed", "turn": 3, "player": 0, "detail": ""}]
        slots = tuple(
            SlotResult(rank, score, crash if rng.random() < 0.1 else ())
            for rank, score in zip(ranks, scores, strict=True)
        )
        self.finish(claim, slots)

    def claim(self, match: int) -> Claim:
        """Let a worker take a match."""
        with self.resources.database.writing() as session:
            claim = results.claim(session, match, "worker", LEASE)
        assert claim is not None
        return claim

    def finish(self, claim: Claim, slots: tuple[SlotResult, ...]) -> None:
        """Let a match end with these results."""
        now = self.clock()
        battle = BattleResult("turn_limit", slots, 5, None, 0, now, now)
        with self.resources.database.writing() as session:
            assert MATCH_TYPES.finish(session, claim, [battle]) == "done"

    def play(self, number: int, rng: Random) -> None:
        """Plan and end so many matches."""
        while number > 0:
            self.clock.advance(600)
            self.plan()
            for match in self.queued()[:number]:
                self.end(match, rng)
                number -= 1

    def differences(self) -> list[rated_service.Difference]:
        with self.resources.database.reading() as session:
            (competition,) = rated_service.rated_competitions(session)
            return list(rated_service.verify(session, competition.id))

    def scalar(self, query: object) -> object:
        with self.resources.database.reading() as session:
            return session.scalar(query)  # type: ignore[call-overload]


@pytest.fixture
def arena(resources: Resources, hub_clock: StillClock) -> Arena:
    return Arena(resources, hub_clock)


@pytest.mark.parametrize(
    ("kinds", "crashed"),
    [(["timeout", "disconnected", "malformed"], False), (["disconnected", "crashed"], True)],
)
def test_a_bot_has_crashed_that_was_given_up(kinds: list[str], crashed: bool) -> None:
    assert SlotResult(1, 1.0, [{"kind": kind} for kind in kinds]).crashed is crashed


def test_a_site_begins_with_its_house_bots_and_maps(arena: Arena) -> None:
    begin_site(arena.resources)
    with arena.resources.database.reading() as session:
        names = set(session.scalars(select(Bot.name)))
        assert {"RandomBot", "GathererBot", "StrategistBot"} < names
        assert len(names) == 7
        assert session.scalar(select(func.count()).select_from(Rating)) == 7
        maps = Counter(session.scalars(select(Map.players)))
    assert maps == {2: 50, 3: 50, 4: 50, 6: 50}
    assert arena.resources.objects.get("maps/m6_050.json")


def test_nobody_plays_where_there_are_house_bots_alone(
    resources: Resources, hub_clock: StillClock
) -> None:
    arena = Arena(resources, hub_clock, house_plays=False)
    assert arena.plan() == 0
    arena.add_people(1)
    assert arena.plan() == 1
    with resources.database.reading() as session:
        played = session.scalars(select(MatchParticipant.name)).all()
    assert "bot-0" in played


def test_a_match_has_its_map_its_level_and_its_bots_for_itself(arena: Arena) -> None:
    assert arena.plan() == 3
    assert arena.plan() == 0
    with arena.resources.database.reading() as session:
        matches = session.scalars(select(Match).order_by(Match.id)).all()
        counts = Counter(session.scalars(select(Rating.playing_id)))
        seats = session.execute(select(MatchParticipant.match_id, MatchParticipant.bot_id)).all()
    assert [match.players for match in matches] == [2, 2, 2]
    assert all(match.options == {"map": match.map_id} for match in matches)
    # Each on another one, of the half that was not used for longest, without those before.
    assert len({match.map_id for match in matches}) == 3
    assert all((match.map_id or "") <= "m2_027" for match in matches)
    assert all(match.level == 800 and match.key == match.match_id for match in matches)
    assert len({bot for _, bot in seats}) == 6
    assert counts == Counter([None, *(match.id for match in matches for _ in range(2))])


def test_eight_ticks_at_once_send_no_bot_into_two_matches(arena: Arena) -> None:
    arena.add_people(20)
    arena.see_worker(40)
    with ThreadPoolExecutor(8) as threads:
        for one in [threads.submit(arena.plan) for _ in range(8)]:
            one.result()
    with arena.resources.database.reading() as session:
        seats = session.scalars(select(MatchParticipant.bot_id)).all()
        playing = session.scalars(select(Rating.bot_id).where(Rating.playing_id.is_not(None))).all()
    assert len(seats) == len(set(seats)) > 20
    assert sorted(seats) == sorted(playing)  # type: ignore[type-var]


def test_a_match_without_its_bot_is_called_off_and_lets_the_others_go(arena: Arena) -> None:
    arena.plan()
    first = arena.queued()[0]
    with arena.resources.database.writing() as session:
        of_slot = (MatchParticipant.match_id == first, MatchParticipant.slot == 1)
        its = select(MatchParticipant.bot_id).where(*of_slot).scalar_subquery()
        session.execute(update(Bot).where(Bot.id == its).values(status="SUSPENDED"))
        session.execute(update(Competition).values(state="paused"))
    assert arena.plan() == 0
    with arena.resources.database.reading() as session:
        match = session.get_one(Match, first)
        assert (match.state, match.reason) == ("void", "a bot is no longer active")
        rows = session.scalars(select(Rating).where(Rating.playing_id == first)).all()
    assert rows == []


def test_a_bot_that_plays_already_leaves_its_match_unmade(arena: Arena) -> None:
    with arena.resources.database.writing() as session:
        (competition,) = rated_service.rated_competitions(session)
        table = pairing.Eligible.of(session, competition)
        first_rows = sorted(row for row, _ in table.rows.values())[:5]
        for bot in first_rows:
            match = planning.plan(session, planning.Plan("practice", str(bot), "code-battle", ()))
            assert ratings.hold(session, competition.id, [bot], match)
        while table.seat_next(session):
            pass
        matches = session.scalars(select(Match).where(Match.kind == "rated")).all()
        assert len(matches) <= 1
        assert not ratings.hold(session, competition.id, first_rows[:2], match)


def test_results_are_applied_once_and_in_order_and_prove_themselves(arena: Arena) -> None:
    rng = Random(5)
    arena.add_people(5)
    arena.play(20, rng)
    assert arena.differences() == []
    with arena.resources.database.reading() as session:
        seqs = session.scalars(select(Match.seq).where(Match.state == "done")).all()
        assert sorted(seqs) == list(range(1, 21))  # type: ignore[type-var]
        assert (
            session.scalar(select(Competition.last_seq).where(Competition.format == "rated")) == 20
        )
        assert session.scalars(select(Rating).where(Rating.playing_id.is_not(None))).all() == []
        games = select(func.sum(RatingTotal.games)).where(RatingTotal.day == 0)
        seats = session.scalar(select(func.count()).select_from(MatchParticipant))
        assert session.scalar(games.where(RatingTotal.players == 0)) == seats
        assert session.scalar(games.where(RatingTotal.players > 0)) == seats
        wins = select(func.sum(RatingTotal.wins), func.sum(RatingTotal.losses))
        assert all(number > 0 for number in session.execute(wins).one())
        used = select(func.count()).where(Map.last_used_at.is_not(None))
        assert session.scalar(used) == 20


def test_matches_that_end_at_once_are_put_into_one_order(arena: Arena) -> None:
    arena.add_people(12)
    arena.see_worker(20)
    arena.plan()
    waiting = arena.queued()
    with ThreadPoolExecutor(8) as threads:
        ends = [threads.submit(arena.end, match, Random(match)) for match in waiting]
        for one in ends:
            one.result()
    assert arena.differences() == []
    assert (
        arena.scalar(select(Competition.last_seq).where(Competition.format == "rated"))
        == len(waiting)
        > 5
    )


def run(arena: Arena, *words: str) -> tuple[int, str]:
    settings = arena.resources.settings
    more = {
        "CW_DATA": str(settings.data),
        "CW_DATABASE_URL": settings.database_url,
        "CW_MASTER_KEYS": settings.master_keys,
        "CW_SECRET_KEY": settings.secret_key,
    }
    done = CliRunner().invoke(hub, ["ratings", *words], env=more)
    return done.exit_code, done.output


CHANGES = (
    (update(Rating).where(Rating.mu > 1500).values(mu=Rating.mu + 1e-9), "mu is "),
    (update(Match).where(Match.seq == 7).values(seq=99), "seq is 8, not 7"),
    (update(RatingTotal).values(wins=RatingTotal.wins + 1), "totals of players 0, day 0"),
    (update(MatchParticipant).values(phi=1.0), "phi is 1.0, not "),
    (update(Competition).values(last_seq=3), "last_seq is 3, not 10"),
)


def test_a_warm_up_waits_for_no_rest(resources: Resources, hub_clock: StillClock) -> None:
    arena, rng = Arena(resources, hub_clock, rest=600, warm_up=6, formats=[2]), Random(1)
    planned = []
    for _ in range(5):
        planned.append(arena.plan())
        for match in arena.queued():
            arena.end(match, rng)
    assert 0 < planned[0] < 6 <= sum(planned) < 6 + planned[0]
    assert planned[-1] == 0
    hub_clock.advance(601)
    assert arena.plan() > 0


def test_what_was_changed_is_named_and_written_anew(arena: Arena) -> None:
    arena.play(10, Random(1))
    assert run(arena, "verify") == (0, "The ratings match the results.\n")
    for change, sentence in CHANGES:
        with arena.resources.database.writing() as session:
            session.execute(change)
        code, words = run(arena, "verify", "code-battle")
        assert code == 1
        assert sentence in words
        assert run(arena, "rebuild") == (0, "code-battle: 10 matches\n")
    assert run(arena, "verify")[0] == 0
    assert run(arena, "verify", "chess")[0] != 0


def test_ratings_without_matches_are_written_anew(arena: Arena) -> None:
    assert run(arena, "rebuild") == (0, "code-battle: 0 matches\n")
    assert run(arena, "verify") == (0, "The ratings match the results.\n")


def test_a_tick_plays_real_matches_on_the_maps_of_the_library(
    resources: Resources, hub_clock: StillClock
) -> None:
    arena = Arena(resources, hub_clock, options={"max_turns": 20})
    tick(resources)
    first = arena.queued()[0]
    Worker("me", 1, MATCH_TYPES).play(resources, first)
    with resources.database.reading() as session:
        match = session.get_one(Match, first)
        assert (match.state, match.seq) == ("done", 1)
        assert match.options == {"max_turns": 20, "map": match.map_id}
        of_match = MatchParticipant.match_id == first
        after = session.scalars(select(MatchParticipant.phi).where(of_match)).all()
    assert all(phi is not None and phi < 350 for phi in after)
    assert arena.differences() == []
