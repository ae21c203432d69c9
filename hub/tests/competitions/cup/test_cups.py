"""Cups between bots of people: any contest of the league, planned by its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeVar

import pytest
from sqlalchemy import event, select

from cw.errors import UsageError
from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.cup import service as cup_service
from cw_hub.competitions.cup.format import FORMAT
from cw_hub.competitions.cup.service import Cup, CupMatch
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.matches import results as matches_results
from cw_hub.matches.jobs import Worker
from cw_hub.matches.results import BattleResult, Claim
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import SlotResult
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import tick
from cw_hub.store.database import Database, Session
from cw_hub.store.models import Match, MatchParticipant, User
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_hub import in_threads
from hub.tests.program import Program
from hub.tests.sites import Site, words_of

T = TypeVar("T")

ME = Worker("me", 1, MATCH_TYPES)
NAMES = ("Ada", "Bob", "Cid", "Dan", "Eve", *(f"Fay {number}" for number in range(21)))
LEASE = timedelta(minutes=10)


class SpringCup:
    """The cup `spring`, of bots that are built-in strategies."""

    def __init__(
        self, resources: Resources, number: int = 5, game: str = "hexagon", **settings: Any
    ) -> None:
        self.resources, self.clock = resources, resources.clock
        self.names = NAMES[:number]
        self.do(self.add_bots, game)
        self.do(competitions_service.new, "cup", game, slug="spring", title="Spring cup")
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
        self.do(FORMAT.change, self.facts, values)

    def resume(self) -> None:
        self.do(FORMAT.steer, self.facts, "running")

    def matches(self, *wanted: str) -> list[Match]:
        query = select(Match).where(Match.state.in_(wanted)) if wanted else select(Match)
        with self.resources.database.reading() as session:
            return list(session.scalars(query.order_by(Match.id)))

    def order(self) -> list[list[str]]:
        """Return how the cup stands: its bots, the best first, equal ones together."""
        with self.resources.database.reading() as session:
            cup = cup_service.read(session, self.facts)
            return [list(equal) for equal in cup.settings.contest().order(cup.results)]

    def end(self, match: Match) -> None:
        """Let a match be won by the one of its bots that is first in the alphabet."""
        claim = self.do(MATCH_TYPES.claim, match.id, "me", LEASE)
        assert claim is not None
        names = [seat.name for seat in claim.seats]
        ranks = [1 + sorted(names).index(name) for name in names]
        now = self.clock()
        slots = tuple(SlotResult(rank, 10.0 - rank) for rank in ranks)
        result = BattleResult("finished", slots, 9, None, 0, now, now)
        assert self.do(MATCH_TYPES.finish, claim, [result]) == "done"

    def call_off(self, match: Match) -> None:
        assert self.do(matches_results.void, match.match_id, "its bot is ill")

    def end_all(self) -> int:
        """Let all matches be won like that until no more are planned; return their number."""
        while waiting := self.matches("queued"):
            for match in waiting:
                self.end(match)
        return len(self.matches("done"))


CONTESTS = [
    ({}, 10),
    ({"contest": "double-round-robin"}, 20),
    ({"contest": "swiss"}, None),
    ({"contest": "gauntlet"}, 8),
    ({"contest": "knockout"}, None),
    ({"contest": "championship", "groups": "1"}, None),
    ({"contest": "ladder", "rounds": "3"}, None),
    ({"contest": "free-for-all", "players": "3", "rounds": "2"}, None),
]


@pytest.mark.parametrize(("settings", "matches"), CONTESTS)
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


@pytest.mark.parametrize(("settings", "matches"), CONTESTS)
def test_a_cup_goes_on_without_a_match_that_is_called_off(
    resources: Resources, settings: Mapping[str, str], matches: int | None
) -> None:
    game = "paint" if settings.get("contest") == "free-for-all" else "hexagon"
    cup = SpringCup(resources, 5, game, **settings)
    cup.resume()
    tick(resources)
    cup.call_off(cup.matches("queued")[0])
    tick(resources)
    played = cup.end_all()
    assert matches in (None, played + 1)
    assert len(cup.matches("void")) == 1
    assert cup.facts.state == "over"


def test_a_cup_ends_although_its_last_match_is_called_off(resources: Resources, site: Site) -> None:
    cup = SpringCup(resources, 2, "circuit-wars")
    cup.resume()
    tick(resources)
    [match] = cup.matches()
    cup.call_off(match)
    # Two tie-break matches separate those whom a draw has left equal.
    tick(resources)
    cup.call_off(cup.matches("queued")[0])
    tick(resources)
    assert cup.end_all() == 1
    assert cup.facts.state == "over"
    assert cup.order() == [["Ada"], ["Bob"]]
    page = words_of(site.visitor().open("/cup/spring"))
    assert "Ada is the champion" in page
    report = site.visitor().open("/cup/spring/report.json").json()
    assert [entry["told"] for entry in report["listing"]][:2] == ["Draw, called off (0 : 0)"] * 2
    assert site.visitor().open("/cup/spring/games.csv").status_code == 200
    assert site.visitor().open("/cup/spring/report.md").status_code == 200


@dataclass
class Asked:
    """How many statements a database has been sent, and how many rows it has returned."""

    statements: int = 0
    rows: int = 0

    def connect(self, connection: Any, *_: Any) -> None:
        connection.row_factory = self.row

    def row(self, _: Any, row: tuple[Any, ...]) -> tuple[Any, ...]:
        self.rows += 1
        return row

    def execute(self, *_: Any) -> None:
        self.statements += 1


@ON_SQLITE
@pytest.mark.parametrize(
    ("bots", "late"), [(9, 30), pytest.param(26, 300, marks=pytest.mark.thorough)]
)
def test_each_end_of_a_match_reads_as_much_as_any_other(
    resources: Resources, bots: int, late: int
) -> None:
    cup = SpringCup(resources, bots, at_once=2)
    cup.resume()
    tick(resources)
    asked, costs = Asked(), []
    event.listen(resources.database.engine, "checkout", asked.connect)
    event.listen(resources.database.engine, "before_cursor_execute", asked.execute)
    for _ in range(late):
        before = astuple(asked)
        cup.end(cup.matches("queued")[0])
        costs.append(tuple(now - then for now, then in zip(astuple(asked), before, strict=True)))
    # Two matches are open: the one that ends, and another one.
    assert costs[4] == costs[late - 1], costs
    assert costs[4][1] < 50


def test_a_result_that_is_rolled_back_does_not_count(resources: Resources) -> None:
    cup = SpringCup(resources, 4, contest="knockout")
    cup.resume()
    tick(resources)
    for match in cup.matches("queued"):
        cup.end(match)
    for match in cup.matches("queued"):
        claim = cup.do(MATCH_TYPES.claim, match.id, "me", LEASE)
        assert claim is not None
        with pytest.raises(OSError, match="away"):
            cup.do(lose_and_fail, claim)
    cup.do(matches_results.reap_all)
    tick(resources)
    cup.end_all()
    assert cup.order()[:2] == [["Ada"], ["Bob"]]
    assert cup.facts.state == "over"


def lose_and_fail(session: Session, claim: Claim) -> None:
    """Let the last bot of the alphabet win, in a transaction that fails."""
    names = [seat.name for seat in claim.seats]
    slots = tuple(
        SlotResult(1 + (name != max(names)), 99.0 * (name == max(names))) for name in names
    )
    result = BattleResult("finished", slots, 9, None, 0, session.now(), session.now())
    assert MATCH_TYPES.finish(session, claim, [result]) == "done"
    raise OSError("the database is away")


def test_a_process_that_knows_a_cup_finds_what_others_have_played(
    database_url: str, resources: Resources
) -> None:
    cup = SpringCup(resources, 5, contest="swiss")
    cup.resume()
    tick(resources)
    with closing(Database(database_url)) as database:
        others = replace(resources, database=database)
        for number in range(100):
            cup.resources = (resources, others)[number % 3 == 0]
            if not (waiting := cup.matches("queued")):
                break
            cup.end(waiting[0])
        assert cup.facts.state == "over"
        assert cup.order()[0] == ["Ada"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("settings", [settings for settings, _ in CONTESTS])
def test_fixtures_are_known_as_soon_as_results_determine_them(
    settings: Mapping[str, str], seed: int
) -> None:
    """In any order of the ends, with draws, so that there are tie-break matches."""
    draw = Random(seed)
    groups = {"groups": "3"} if "groups" in settings else {}
    about = {"bots": ",".join(NAMES[:12]), **settings, **groups}
    game = "paint" if settings.get("contest") == "free-for-all" else "hexagon"
    now = datetime(2026, 11, 20, tzinfo=UTC)
    facts = CompetitionFacts(1, "spring", game, "cup", "Spring", "running", about, now, seed)
    cup = Cup(facts, cup_service.settings_of(facts))
    cup = replace(cup, fixtures=cup.asked({}))
    while cup.fixtures:
        assert list(cup.fixtures.items()) == list(cup.asked(cup.results).items())
        key, fixture = draw.choice(list(cup.fixtures.items()))
        number = len(cup.results) + 1
        ranks = draw.choice([(1, 1, 1), (1, 2, 3), (2, 1, 3)])
        seats = [
            MatchParticipant(slot=slot, rank=rank, score=9.0 - rank, faults=[], stats={})
            for slot, rank in enumerate(ranks[: len(fixture.players)])
        ]
        cup = cup.plus([CupMatch(number, key, "done", 1, "finished", 1, 9, seats)])
    assert cup.asked(cup.results) == {}


def test_a_cup_that_is_paused_plans_nothing(resources: Resources) -> None:
    cup = SpringCup(resources, 3)
    cup.resume()
    tick(resources)
    cup.do(FORMAT.steer, cup.facts, "paused")
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
