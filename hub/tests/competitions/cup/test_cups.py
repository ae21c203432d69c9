"""Cups between bots of people: any contest of the league, planned by its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from sqlalchemy import select

from cw.errors import UsageError
from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.cup.format import FORMAT
from cw_hub.competitions.cup.service import Cup
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.matches import results as matches_results
from cw_hub.matches.jobs import Worker
from cw_hub.matches.results import BattleResult
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import SlotResult
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import tick
from cw_hub.store.database import Session
from cw_hub.store.models import Match, MatchParticipant, User
from hub.tests.ladder_hub import in_threads
from hub.tests.program import Program
from hub.tests.sites import Site, words_of

T = TypeVar("T")

ME = Worker("me", 1, MATCH_TYPES)
NAMES = ("Ada", "Bob", "Cid", "Dan", "Eve")
LEASE = timedelta(minutes=10)


class SpringCup:
    """The cup `spring`, of bots that are built-in strategies."""

    def __init__(
        self, resources: Resources, number: int = 5, game: str = "hexagon", **settings: Any
    ) -> None:
        self.resources, self.clock = resources, resources.clock
        self.names = NAMES[:number]
        self.do(self.add_bots, game)
        self.do(
            competitions_service.new, self.clock, "cup", game, slug="spring", title="Spring cup"
        )
        self.set(bots=",".join(self.names), **settings)

    def do(self, verb: Callable[..., T], *arguments: Any, **more: Any) -> T:
        with self.resources.database.writing() as session:
            return verb(session, *arguments, **more)

    def add_bots(self, session: Session, game: str) -> None:
        user = User(username="ann", username_key="ann", created_at=self.clock())
        session.add(user)
        session.flush()
        for name in self.names:
            bots_service.add_builtin(session, user.id, game, name, "random")

    @property
    def facts(self) -> CompetitionFacts:
        with self.resources.database.reading() as session:
            return competitions_service.named(session, "cup/spring")

    def set(self, **values: Any) -> None:
        self.do(FORMAT.change, self.facts, values, competitions_service.OPERATOR)

    def resume(self) -> None:
        self.do(FORMAT.steer, self.facts, "running", competitions_service.OPERATOR)

    def matches(self, *wanted: str) -> list[Match]:
        query = select(Match).where(Match.state.in_(wanted)) if wanted else select(Match)
        with self.resources.database.reading() as session:
            return list(session.scalars(query.order_by(Match.id)))

    def order(self) -> list[list[str]]:
        """Return how the cup stands: its bots, the best first, equal ones together."""
        with self.resources.database.reading() as session:
            cup = Cup.of(session, self.facts)
            results = cup.played().results
            return [list(equal) for equal in cup.settings.contest().order(results)]

    def end(self, match: Match) -> None:
        """Let a match be won by the one of its bots that is first in the alphabet."""
        claim = self.do(MATCH_TYPES.claim, match.id, "me", LEASE)
        assert claim is not None
        names = [seat.name for seat in claim.seats]
        ranks = [1 + sorted(names).index(name) for name in names]
        now = self.clock()
        slots = tuple(SlotResult(rank, 10.0 - rank) for rank in ranks)
        result = BattleResult("turn_limit", slots, 9, None, 0, now, now)
        assert self.do(MATCH_TYPES.finish, claim, [result]) == "done"

    def end_all(self) -> int:
        """Let all matches be won like that until no more are planned; return their number."""
        while waiting := self.matches("queued"):
            for match in waiting:
                self.end(match)
        return len(self.matches("done"))


@pytest.mark.parametrize(
    ("settings", "matches"),
    [
        ({}, 10),
        ({"contest": "double-round-robin"}, 20),
        ({"contest": "swiss"}, None),
        ({"contest": "gauntlet"}, 8),
        ({"contest": "knockout"}, None),
        ({"contest": "championship", "groups": "1"}, None),
        ({"contest": "free-for-all", "players": "3", "rounds": "2"}, None),
    ],
)
def test_a_cup_plays_any_contest_of_the_league(
    resources: Resources, settings: Mapping[str, str], matches: int | None
) -> None:
    game = "paint" if settings.get("contest") == "free-for-all" else "hexagon"
    cup = SpringCup(resources, 5, game, **settings)
    tick(resources)
    assert cup.matches() == []
    cup.resume()
    tick(resources)
    played = cup.end_all()
    assert matches in (None, played)
    assert cup.facts.state == "over"
    assert "Ada" in cup.order()[0]
    assert [match.kind for match in cup.matches()] == ["cup"] * played


def test_a_cup_is_played_to_its_end_and_shown(resources: Resources, site: Site) -> None:
    cup = SpringCup(resources, 3, options={"size": 3}, contest="gauntlet")
    assert site.visitor().open("/cup/spring").status_code == 404
    assert "No cups yet." in words_of(site.visitor().open("/cup/"))
    cup.resume()
    assert "0 of 4 matches played" in words_of(site.visitor().open("/cup/spring"))
    tick(resources)
    while waiting := cup.matches("queued"):
        for match in waiting:
            ME.play(resources, match.id)
    assert {match.state for match in cup.matches()} == {"done"}
    visitor = site.visitor()
    page = visitor.open("/cup/spring")
    assert "championship · gauntlet" not in words_of(page)
    assert "3 teams · 4 matches" in words_of(page)
    stem = visitor.open("/cup/spring/report.json").json()["listing"][0]["stem"]
    led = visitor.open(f"/cup/spring/matches/{stem}")
    assert led.status_code == 302
    assert visitor.open(led.headers["Location"]).status_code == 200
    assert visitor.open(f"/cup/spring/games/{stem}.json.gz").status_code == 302
    assert visitor.open("/cup/spring/matches/nothing").status_code == 404
    fresh = visitor.open("/cup/spring/stand")
    tag = {"If-None-Match": fresh.headers["ETag"]}
    assert visitor.get(f"{site.address}/cup/spring/stand", headers=tag).status_code == 304
    assert "Spring cup" in words_of(visitor.open("/cup/"))


def test_a_cup_is_told_by_the_api_with_its_tables(resources: Resources, site: Site) -> None:
    program, cup = Program(site), SpringCup(resources, 3)
    assert program.ask("/cups/spring").status_code == 404
    cup.resume()
    tick(resources)
    cup.end(cup.matches("queued")[0])
    begun = program.read("/cups/spring")
    assert (begun["state"], begun["contest"]) == ("running", "round-robin")
    assert (begun["played"], begun["expected"]) == (1, 3)
    cup.end_all()
    [table] = program.read("/cups/spring")["tables"]
    assert table["done"]
    assert [(row["rank"], row["name"], row["wins"], row["losses"]) for row in table["rows"]] == [
        (1, "Ada", 2, 0),
        (2, "Bob", 1, 1),
        (3, "Cid", 0, 2),
    ]


def test_a_cup_without_bots_has_no_tables(resources: Resources, site: Site) -> None:
    cup = SpringCup(resources, 3)
    cup.set(bots="")
    cup.do(competitions_service.set_state, cup.facts.id, "running")
    facts = Program(site).read("/cups/spring")
    assert (facts["played"], facts["expected"], facts["tables"]) == (0, 0, [])


def test_a_bot_plays_one_match_of_a_cup_at_a_time(resources: Resources) -> None:
    cup = SpringCup(resources, 4)
    cup.resume()
    in_threads(5, lambda: tick(resources))
    assert len(cup.matches()) == 2
    with resources.database.reading() as session:
        seats = session.scalars(select(MatchParticipant.bot_id)).all()
    assert len(set(seats)) == len(seats) == 4
    cup.end(cup.matches("queued")[0])
    assert len(cup.matches("queued", "in_progress")) == 1


def test_a_match_that_was_lost_is_played_again_before_the_cup_goes_on(
    resources: Resources,
) -> None:
    cup = SpringCup(resources, 2, contest="knockout")
    cup.resume()
    tick(resources)
    first = cup.matches()[0]
    assert cup.do(MATCH_TYPES.claim, first.id, "gone", LEASE) is not None
    assert cup.do(matches_results.reap_all) == 1
    tick(resources)
    assert cup.end_all() == 2
    assert cup.matches()[0].attempt == 2
    assert cup.facts.state == "over"


def test_a_cup_that_is_paused_plans_nothing(resources: Resources) -> None:
    cup = SpringCup(resources, 3)
    cup.resume()
    tick(resources)
    cup.do(FORMAT.steer, cup.facts, "paused", competitions_service.OPERATOR)
    cup.end(cup.matches("queued")[0])
    tick(resources)
    assert cup.matches("queued") == []
    cup.resume()
    tick(resources)
    assert cup.end_all() == 3


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"contest": "chess"}, "there is no contest 'chess'"),
        ({"groups": "many"}, "groups must be a whole number"),
        ({"colour": "red"}, "a cup has contest, bots"),
        ({"options": "{"}, "options must be a JSON object"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    resources: Resources, values: Mapping[str, str], sentence: str
) -> None:
    cup = SpringCup(resources, 2)
    before = cup.facts.settings
    with pytest.raises(UsageError, match=sentence):
        cup.set(**values)
    assert cup.facts.settings == before


def test_a_cup_begins_with_bots_that_are_there_and_keeps_its_settings(
    resources: Resources,
) -> None:
    cup = SpringCup(resources, 2)
    cup.set(bots="Ada,Nobody")
    with pytest.raises(UsageError, match="there is no bot 'Nobody' that plays hexagon"):
        cup.resume()
    cup.set(bots="Ada")
    with pytest.raises(UsageError):
        cup.resume()
    cup.set(bots="Ada,bob")
    cup.resume()
    tick(resources)
    with pytest.raises(UsageError, match="the cup spring has begun"):
        cup.set(contest="swiss")


@pytest.mark.parametrize(("game", "boards"), [("hexagon", 1), ("code-battle", 2)])
def test_no_replay_shows_what_the_other_match_of_its_meeting_hides(
    resources: Resources, game: str, boards: int
) -> None:
    cup = SpringCup(resources, 2, game, contest="double-round-robin")
    cup.resume()
    tick(resources)
    assert cup.end_all() == 2
    assert len({match.seed for match in cup.matches()}) == boards
