"""Rounds of tournaments: opened, sent, played, closed; what the host does, and what goes wrong."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sqlalchemy import event, select, update

from cw.errors import UsageError
from cw.league.ladder import POINTS
from cw_hub.competitions.tournament import export
from cw_hub.competitions.tournament.rounds import PLAYED_AGAIN
from cw_hub.matches import planning
from cw_hub.matches import results as matches_results
from cw_hub.matches.planning import Plan, Seat, send_own
from cw_hub.matches.results import BattleResult
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import SlotResult
from cw_hub.site.formats import MATCH_TYPES
from cw_hub.site.processes import tick
from cw_hub.store.models import Battle, Competition, Event, Match, MatchParticipant, RoundScore
from hub.tests.conftest import ON_SQLITE, StillClock
from hub.tests.ladder_hub import WORKER, Tournament, in_threads, totals_by_replays

MINUTE = {"round_every": 60}
FIVE = {"name": "Hexagon 5", "options": {"size": 5}, "factor": 3}
PAIR = {"alpha": "random", "beta": "random"}
TRIO = {"alpha": "greedy", "beta": "constant", "gamma": ""}


@pytest.fixture
def trio(resources: Resources) -> Tournament:
    """Three teams, of which one has no bot yet, and a final; rounds begin a minute apart."""
    return Tournament(resources, {"grodno": TRIO, "final": {}}, MINUTE)


def faults_of(tournament: Tournament, match: Match, name: str) -> list[tuple[int, str, str]]:
    (seat,) = [seat for seat in tournament.seats(match) if seat.name == name]
    return [(one["battle"], one["kind"], one["detail"]) for one in seat.faults]


def test_rounds_are_worth_what_their_replays_tell(trio: Tournament, hub_clock: StillClock) -> None:
    trio.advance()
    assert (trio.state(), trio.phase("grodno"), trio.matches()) == ("draft", "waiting", [])
    trio.happens("start")
    assert (trio.state(), trio.phase("grodno"), trio.phase("final")) == (
        "running", "running", "waiting",
    )  # fmt: skip
    assert trio.play(most=2) == 2
    assert trio.totals("grodno") == {}
    trio.play()
    assert trio.totals("grodno") == {"alpha": 4, "beta": 2, "gamma": 0}
    for match in trio.matches():
        names = {seat.name for seat in trio.seats(match)}
        expected = [(1, "startup", "no bot yet"), (2, "startup", "no bot yet")]
        if "gamma" in names:
            assert faults_of(trio, match, "gamma") == expected
        else:
            assert [kind for _, kind, _ in faults_of(trio, match, "beta")] == ["illegal"] * 2
            places = {seat.name: (seat.rank, seat.points) for seat in trio.seats(match)}
            assert places == {"alpha": (1, 2), "beta": (2, 0)}
    assert trio.advance() == 0
    hub_clock.advance(59)
    assert trio.advance() == 0
    trio.happens("pause")
    trio.set_bot("alpha", "constant")
    trio.set_bot("beta", "greedy")
    trio.happens("boards", boards=[FIVE], mode="replace")
    hub_clock.advance(3600)
    assert (trio.advance(), trio.state(), trio.phase("grodno")) == (0, "paused", "paused")
    trio.happens("resume")
    trio.play()
    assert trio.totals("grodno") == {"alpha": 10, "beta": 20, "gamma": 0}
    assert [one.board["name"] for one in trio.rounds("grodno")] == ["Hexagon 3", "Hexagon 5"]
    trio.set_bot("gamma", "random")
    hub_clock.advance(60)
    trio.advance()
    trio.play()
    assert trio.totals("grodno") == totals_by_replays(trio, "grodno", POINTS)
    scores: list[RoundScore] = trio.read(select(RoundScore))
    assert len(scores) == 9
    assert sum(one.won for one in scores) == sum(one.lost for one in scores)
    assert sum(one.battles_diff for one in scores) == sum(one.score_diff for one in scores) == 0


def test_a_round_is_the_same_however_its_matches_come(
    resources: Resources, hub_clock: StillClock
) -> None:
    bots = dict.fromkeys(("a", "b", "c", "d"), "random")
    groups = {"one": {**bots, "ours": "greedy"}, "two": {name + "2": "random" for name in "ab"}}
    tournament = Tournament(resources, groups, {"per_bot": 1, "parallel": 3, **MINUTE})
    tournament.happens("start")
    first = tournament.send()
    matches = [one for one in tournament.matches() if one.id in first]
    assert len(matches) == 3
    assert len({seat.bot_id for one in matches for seat in tournament.seats(one)}) == 6
    assert Counter(one.round_id for one in matches) == Counter(
        {tournament.rounds("one")[0].id: 2, tournament.rounds("two")[0].id: 1}
    )
    assert tournament.send() == []
    for one in reversed(matches):
        WORKER.play(tournament.resources, one.id)
    tournament.play()
    assert tournament.totals("one") == totals_by_replays(tournament, "one", POINTS)
    assert tournament.totals("two") == totals_by_replays(tournament, "two", POINTS)
    assert [
        one.closed_at is None for one in (*tournament.rounds("one"), *tournament.rounds("two"))
    ] == [False] * 2


def test_two_ticks_at_once_open_one_round(resources: Resources) -> None:
    tournament = Tournament(resources, {"grodno": TRIO})
    start = Event(
        competition_id=tournament.id,
        at=tournament.clock(),
        kind="start",
        title="",
        text="",
        data={},
    )
    tournament.do(lambda session: session.add(start))
    in_threads(5, lambda: tick(resources))
    assert len(tournament.matches()) == 3
    assert [match.sent_at is None for match in tournament.matches()] == [False] * 3
    assert in_threads(5, tournament.advance) == [0] * 5


def test_twenty_finishes_of_a_match_at_once_count_once(resources: Resources) -> None:
    tournament = Tournament(resources, {"grodno": {"a": "greedy", "b": "random"}}, MINUTE)
    tournament.happens("start")
    (match,) = tournament.send()
    claim = tournament.do(lambda s: MATCH_TYPES.claim(s, match, "me", planning.LOST_AFTER))
    assert claim is not None
    assert claim.battles == 2
    won, lost, now = SlotResult(1, 20), SlotResult(2, 10), tournament.clock()
    battles = [
        BattleResult("finished", (won, lost), 9, None, 0, now, now, first_slot=first)
        for first in (0, 1)
    ]
    results = in_threads(
        20,
        lambda: tournament.do(lambda session: MATCH_TYPES.finish(session, claim, battles)),
    )
    assert Counter(results) == {"done": 1, "already": 19}
    first = tournament.seats(tournament.matches()[0])[0].name
    assert tournament.totals("grodno") == {"a": 0, "b": 0} | {first: 2}
    assert len(tournament.read(select(Battle))) == 2


def test_a_pause_holds_what_was_sent_and_lets_go_what_is_played(resources: Resources) -> None:
    tournament = Tournament(resources, {"grodno": TRIO}, MINUTE)
    tournament.happens("start")
    first, second, *_ = tournament.send()
    claim = tournament.do(lambda s: MATCH_TYPES.claim(s, first, "me", planning.LOST_AFTER))
    assert claim is not None
    tournament.happens("pause")
    assert tournament.send() == []
    WORKER.play(tournament.resources, second)
    assert [match.state for match in tournament.matches()] == ["in_progress", "queued", "queued"]
    tournament.happens("resume")
    assert second in tournament.send()
    WORKER.play(tournament.resources, second)
    assert tournament.matches()[1].state == "done"


def test_a_team_that_is_disqualified_in_a_round_gives_nobody_points(
    trio: Tournament, hub_clock: StillClock
) -> None:
    trio.happens("start")
    trio.play(most=2)
    gamma = trio.teams["gamma"]

    def out() -> Any:
        return trio.act("disqualify", ids=[gamma], reason="it slept")

    assert sorted(in_threads(3, out)) == [0, 0, 1]
    trio.play()
    assert trio.totals("grodno") == {"alpha": 2, "beta": 0, "gamma": 0}
    assert Counter(match.state for match in trio.matches()) == {"void": 2, "done": 1}
    assert totals_by_replays(trio, "grodno", POINTS) == trio.totals("grodno")
    hub_clock.advance(60)
    trio.advance()
    assert len(trio.matches(2)) == 1
    assert trio.act("reinstate", ids=[gamma]) == 1
    trio.play()
    hub_clock.advance(60)
    trio.advance()
    assert len(trio.matches(3)) == 3


def test_a_team_that_comes_late_plays_from_the_next_round_on(
    trio: Tournament, hub_clock: StillClock
) -> None:
    trio.happens("start")
    trio.do(lambda session: trio.add_team(session, "grodno", "delta", "random"))
    trio.play()
    assert trio.totals("grodno")["delta"] == 0
    hub_clock.advance(60)
    trio.advance()
    assert len(trio.matches(2)) == 6
    assert trio.rounds("grodno")[1].positions[str(trio.teams["delta"])] == 3


def test_one_team_alone_waits_for_a_second(resources: Resources) -> None:
    tournament = Tournament(resources, {"grodno": {"a": "greedy"}})
    tournament.happens("start")
    assert (tournament.phase("grodno"), tournament.rounds("grodno"), tournament.advance()) == (
        "running",
        [],
        0,
    )
    tournament.do(lambda session: tournament.add_team(session, "grodno", "b", "random"))
    assert tournament.advance() == 1


def test_the_first_of_each_city_go_to_the_final_with_nothing(
    resources: Resources, hub_clock: StillClock
) -> None:
    groups = {
        "grodno": {"a": "greedy", "b": "random", "c": "constant", "ours": "random"},
        "minsk": {"d": "random", "e": "constant"},
        "internal": {"f": "greedy", "g": "random"},
        "final": {},
    }
    tournament = Tournament(resources, groups, {"finalists": 2, **MINUTE})
    tournament.happens("start")
    tournament.play(most=1)

    assert in_threads(3, lambda: tournament.act("carry-over")).count(True) == 1
    assert [tournament.phase(group) for group in groups] == ["closing"] * 3 + ["waiting"]
    hub_clock.advance(600)
    tournament.play()
    assert [tournament.phase(group) for group in groups] == ["over"] * 3 + ["running"]
    best = sorted(["a", "b", "c"], key=lambda name: -tournament.totals("grodno")[name])[:2]
    assert set(tournament.entries("final")) == {*best, "d", "e", "ours"}
    assert tournament.totals("final") == totals_by_replays(tournament, "final", POINTS)
    assert len(tournament.rounds("grodno")) == 1
    hub_clock.advance(60)
    tournament.happens("end")
    assert tournament.state() == "over"
    assert tournament.advance() == 0


def test_a_final_of_all_takes_as_many_as_its_game_has_seats(resources: Resources) -> None:
    """Six can play Code Battle: the third of no city comes before the second of another one."""
    groups = {city: {f"{city}-{n}": "random" for n in range(3)} for city in ("one", "two", "three")}
    groups["final"] = {}
    boards = [{"options": {"max_turns": 5}}]
    settings = {"plan": "all", "finalists": 3, "round_every": 60, "boards": boards}
    tournament = Tournament(resources, groups, settings, "code-battle")
    tournament.happens("start")
    tournament.play()
    assert tournament.act("carry-over")
    there = Counter(name.partition("-")[0] for name in tournament.entries("final"))
    assert there == {"one": 2, "two": 2, "three": 2}
    tournament.play()
    assert {match.state for match in tournament.matches()} == {"done"}
    assert set(tournament.totals("final")) == set(tournament.entries("final"))


def test_open_rounds_are_played_out_after_the_end(resources: Resources) -> None:
    tournament = Tournament(resources, {"grodno": TRIO})
    tournament.happens("start")
    tournament.happens("end")
    assert (tournament.state(), tournament.phase("grodno")) == ("running", "closing")
    tournament.play()
    assert (tournament.state(), tournament.phase("grodno")) == ("over", "over")
    assert tournament.totals("grodno") == {"alpha": 4, "beta": 2, "gamma": 0}


def fail(tournament: Tournament, match: int) -> None:
    """Let a match that is sent end by faults of ours, again and again."""
    for _ in range(matches_results.MOST_TROUBLES):
        claim = tournament.do(lambda s: MATCH_TYPES.claim(s, match, "me", planning.LOST_AFTER))
        assert claim is not None
        with tournament.resources.database.writing() as session:
            assert matches_results.trouble(session, claim, "KeyError")
        tournament.do(matches_results.requeue)
        send_own(tournament.resources, MATCH_TYPES.sendings)


def test_a_round_waits_five_minutes_for_a_match_that_failed(
    trio: Tournament, hub_clock: StillClock
) -> None:
    trio.happens("start")
    send_own(trio.resources, MATCH_TYPES.sendings)
    fail(trio, trio.matches()[0].id)
    assert trio.matches()[0].state == "failed"
    trio.play()
    hub_clock.advance(299)
    assert trio.advance() == 0
    hub_clock.advance(1)
    assert trio.advance() == 2
    assert sum(trio.totals("grodno").values()) == 4
    late = trio.matches()[0].match_id
    with pytest.raises(UsageError, match="this round is over"):
        trio.act("play-again", match_id=late)


def test_a_match_is_played_again_and_called_off(trio: Tournament) -> None:
    trio.happens("start")
    trio.play(most=2)
    done, _, waiting = trio.matches()
    again = trio.act("play-again", match_id=done.match_id)
    twice = trio.act("play-again", match_id=again)
    assert trio.act("void", match_id=waiting.match_id, reason="the power failed")
    assert not trio.act("void", match_id=waiting.match_id, reason="twice")
    trio.play()
    states = {match.match_id: (match.state, match.reason) for match in trio.matches()}
    assert states[again] == ("void", PLAYED_AGAIN)
    assert states[waiting.match_id] == ("void", "the power failed")
    assert states[done.match_id][0] == states[twice][0] == "done"
    # The same board, the same bots: it counts once.
    assert len({match.seed for match in trio.matches()}) == 3
    assert [one.closed_at is None for one in trio.rounds("grodno")] == [False]
    assert sum(trio.totals("grodno").values()) == 4


def test_a_round_is_called_off_as_a_whole(trio: Tournament) -> None:
    trio.happens("start")
    trio.play(most=1)
    (opened,) = trio.rounds("grodno")
    assert trio.act("void-round", round_id=opened.id, reason="a wrong board") == 3
    assert trio.totals("grodno") == {"alpha": 0, "beta": 0, "gamma": 0}
    with pytest.raises(UsageError, match="this round is over"):
        trio.act("void-round", round_id=opened.id, reason="again")


def test_practice_comes_last_and_is_played_all_the_same(resources: Resources) -> None:
    tournament = Tournament(resources, {"grodno": TRIO}, {"parallel": 2, **MINUTE})
    seats = (Seat("a", spec="builtin:random"), Seat("b", spec="builtin:greedy"))
    plan = Plan("practice", "", "hexagon", seats, {"size": 3}, competition_id=tournament.id)
    practice = [tournament.do(lambda s: planning.plan(s, plan)) for _ in range(3)]
    tournament.happens("start")
    *rounds, last = tournament.send()
    assert (len(rounds), last) == (2, practice[0])
    WORKER.play(tournament.resources, last)
    with resources.database.reading() as session:
        assert session.scalars(select(Match.state).where(Match.id == last)).one() == "done"
    assert set(tournament.send()) == {practice[1]}


@ON_SQLITE
@pytest.mark.parametrize(
    ("game", "settings", "bots"),
    [
        pytest.param("paint", {}, ["walker", "walker"], marks=pytest.mark.thorough),
        ("paint", {"plan": "all"}, ["walker", "walker", "walker", ""]),
        pytest.param(
            "code-battle",
            {"boards": [{"options": {"max_turns": 5}}]},
            ["rusher", "random", ""],
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "circuit-wars",
            {"boards": [{"options": {"size": 3}}]},
            ["greedy", "random", ""],
            marks=pytest.mark.thorough,
        ),
        ("end-of-codes", {}, ["sample", "sample", ""]),
    ],
)
def test_any_game_can_have_a_ladder(
    resources: Resources, game: str, settings: dict[str, Any], bots: list[str]
) -> None:
    teams = {f"team-{number}": bot for number, bot in enumerate(bots)}
    tournament = Tournament(resources, {"main": teams}, {**MINUTE, **settings}, game)
    tournament.happens("start")
    tournament.play()
    assert {match.state for match in tournament.matches()} == {"done"}
    assert set(tournament.totals("main")) == set(teams)
    battles = Counter(one.match_id for one in tournament.read(select(Battle)))
    assert set(battles.values()) == {1 if game == "end-of-codes" else 2}
    absent = [name for name, bot in teams.items() if not bot]
    for match in tournament.matches():
        for seat in tournament.seats(match):
            name = seat.name.replace("_", "-")
            assert seat.points is not None
            assert name in teams
            if name in absent:
                assert {one["kind"] for one in seat.faults} == {"startup"}, seat.faults


@pytest.mark.thorough
def test_a_round_of_1225_matches_is_opened_in_few_statements(
    resources: Resources, hub_clock: StillClock
) -> None:
    teams = {f"t{number}": "random" for number in range(50)}
    tournament = Tournament(resources, {"grodno": teams})
    statements: list[str] = []

    def count(_: Any, __: Any, statement: str, *___: Any) -> None:
        if not statement.startswith("BEGIN"):
            statements.append(statement)

    engine = resources.database.engine
    start = Event(
        competition_id=tournament.id,
        at=tournament.clock(),
        kind="start",
        title="",
        text="",
        data={},
    )
    tournament.do(lambda session: session.add(start))
    event.listen(engine, "before_cursor_execute", count)
    tournament.advance()
    event.remove(engine, "before_cursor_execute", count)
    assert len(tournament.matches()) == 1225
    assert len(tournament.read(select(MatchParticipant))) == 2450
    assert len(statements) <= 12, "\n".join(one[:150].replace("\n", " ") for one in statements)


@pytest.mark.parametrize(("game", "is_hidden"), [("hexagon", False), ("code-battle", True)])
def test_a_game_with_hidden_information_is_played_again_on_another_board(
    resources: Resources, game: str, is_hidden: bool
) -> None:
    tournament = Tournament(resources, {"grodno": PAIR}, {}, game)
    tournament.happens("start")
    first = tournament.matches()[0]
    name = tournament.act("play-again", match_id=first.match_id)
    again = next(match for match in tournament.matches() if match.match_id == name)
    assert (again.seed != first.seed) is is_hidden


@pytest.mark.parametrize(("game", "is_hidden"), [("hexagon", False), ("code-battle", True)])
def test_an_export_tells_no_seed_of_matches_that_are_to_come(
    resources: Resources, game: str, is_hidden: bool
) -> None:
    tournament = Tournament(resources, {"grodno": PAIR}, {}, game)
    tournament.happens("start")
    assert ("seed = " not in exported(tournament)) is is_hidden
    with tournament.resources.database.writing() as session:
        session.execute(update(Competition).values(state="over"))
    assert "seed = " in exported(tournament)


def exported(tournament: Tournament) -> str:
    """Return the configuration that the export of a tournament has."""
    with tournament.resources.database.reading() as session:
        return dict(export.files_of(session, tournament.id))[export.CONFIG]
