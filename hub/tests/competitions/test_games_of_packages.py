"""A game of another package is played in every format of a hub, by the machines that have it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import select

from cw.errors import UsageError
from cw.games.registry import GAMES
from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.format import format_named
from cw_hub.competitions.maps import look_at_games
from cw_hub.competitions.rated import pairing
from cw_hub.competitions.rated import service as rated_service
from cw_hub.matches.jobs import Worker
from cw_hub.operation import scheduler
from cw_hub.operation.resources import Resources
from cw_hub.players.players import Players
from cw_hub.site.formats import FORMATS, MATCH_TYPES
from cw_hub.site.processes import tick
from cw_hub.store.models import Match, User
from hub.tests.competitions.cup.test_cups import SpringCup
from hub.tests.conftest import ON_SQLITE
from hub.tests.ladder_hub import Tournament
from tests.documented import installed

GAME = "tron"
SMALL = {"size": 5}
ME = Worker("me", 1, MATCH_TYPES)

pytestmark = ON_SQLITE


@pytest.fixture
def tron(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the games of docs/add-a-game.md on this machine."""
    folder = installed()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))


@pytest.fixture
def players(tron: None) -> Iterator[Players]:
    """Processes that play, which find these games too."""
    with closing(Players()) as players:
        yield players


@pytest.fixture
def two_bots(resources: Resources, tron: None) -> list[int]:
    """Return the rows of two bots of different people."""
    with resources.database.writing() as session:
        rows = []
        for name in ("ann", "bob"):
            user = User(username=name, username_key=name, created_at=resources.clock())
            session.add(user)
            session.flush()
            bot = bots_service.add_builtin(session, user.id, GAME, name, "roomy")
            rated_service.enter(session, bot)
            rows.append(bot)
        return rows


def begun(resources: Resources, kind: str, **settings: Any) -> int:
    """Let a competition of the game run; return its id."""
    format_ = format_named(FORMATS, kind)
    assert format_ is not None
    with resources.database.writing() as session:
        competition = competitions_service.new(session, kind, GAME)
        format_.change(session, competition, settings)
        facts = competitions_service.named(session, f"{kind}/{GAME}")
        format_.steer(session, facts, "running")
        return competition.id


def matches(resources: Resources) -> list[Match]:
    with resources.database.reading() as session:
        return list(session.scalars(select(Match).order_by(Match.id)))


def test_a_rated_match_is_played(resources: Resources, two_bots: list[int]) -> None:
    begun(resources, "rated", options=SMALL, rest="0", formats="2")
    with resources.database.writing() as session:
        scheduler.see_worker(session, "me", "1", 1)
        planned = pairing.plan(session)
    for match in matches(resources):
        ME.play(resources, match.id)
    assert [(match.state, match.game) for match in matches(resources)] == [("done", GAME)] * planned
    with resources.database.reading() as session:
        assert competitions_service.named(session, f"rated/{GAME}").last_seq == planned > 0


def test_a_daily_game_is_played(resources: Resources, two_bots: list[int]) -> None:
    competition = begun(resources, "daily", options=SMALL)
    with resources.database.writing() as session:
        daily_service.begin(session, competition)
    ME.play(resources, matches(resources)[-1].id)
    assert [match.state for match in matches(resources)] == ["done"]


def test_a_cup_is_played(resources: Resources, tron: None) -> None:
    cup = SpringCup(resources, 3, GAME, options=SMALL)
    cup.resume()
    tick(resources)
    while waiting := cup.matches("queued"):
        for match in waiting:
            ME.play(resources, match.id)
    assert {match.state for match in cup.matches()} == {"done"}
    assert cup.facts.state == "over"


def test_a_round_of_a_tournament_is_played(resources: Resources, tron: None) -> None:
    boards = {"boards": [{"options": SMALL}], "round_every": 60, "plan": "all"}
    tournament = Tournament(resources, {"main": {"ann": "roomy", "bob": "random"}}, boards, GAME)
    tournament.happens("start")
    tournament.play()
    assert {match.state for match in tournament.matches()} == {"done"}
    assert set(tournament.totals("main")) == {"ann", "bob"}


def test_a_machine_without_the_package_leaves_its_matches_and_says_so(
    resources: Resources, two_bots: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(resources, "rated", options=SMALL, rest="0")
    finding = look_at_games(resources.settings)
    assert finding.ok
    assert "tron (tron 1.0)" in finding.found
    monkeypatch.undo()
    finding = look_at_games(resources.settings)
    assert not finding.ok
    assert finding.found == f"this machine plays no matches of {GAME}: rated/{GAME}"
    assert finding.advice.startswith("install the packages of these games here")
    assert GAME not in GAMES


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("formats", "2,9", "formats must be numbers of players from 2 to 4"),
        ("formats", "", "formats must be numbers of players from 2 to 4"),
        ("formats", {"2": 4}, "formats must be numbers of players from 2 to 4"),
        ("options", "small", "options must be a JSON object"),
        ("options", {"size": 99}, "options: size must be a whole number from 5 to 31, not 99"),
        ("options", {"depth": 1}, "options: unknown option 'depth'"),
        ("rest", "soon", "rest must be seconds from 0 to 604800, such as 60, not 'soon'"),
        ("rest", "nan", "rest must be seconds from 0"),
        ("rest", "-1", "rest must be seconds from 0"),
        ("warm_up", "-1", "warm_up must be a whole number from 0 to 100000000, not '-1'"),
        ("matches", "0", "matches must be a whole number from 1 to 100000000, or none"),
        ("same_owner", "maybe", "same_owner must be true or false, not 'maybe'"),
        ("colour", "red", "a rated competition has no 'colour'"),
    ],
)
def test_settings_of_a_rated_competition_that_cannot_be_are_refused(
    resources: Resources, tron: None, name: str, value: object, message: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        begun(resources, "rated", **{name: value})
    assert message in str(refusal.value)


def test_settings_of_a_rated_competition_are_kept_as_what_they_mean(
    resources: Resources, tron: None
) -> None:
    fields = {"formats": "4,2", "rest": "5.5", "matches": "100", "house_plays": "true"}
    begun(resources, "rated", **fields, same_owner="false", options=SMALL)
    with resources.database.reading() as session:
        values = dict(competitions_service.named(session, f"rated/{GAME}").settings)
    values.pop(competitions_service.SINCE)
    assert values == {
        "formats": [2, 4],
        "rest": 5.5,
        "matches": 100,
        "house_plays": True,
        "same_owner": False,
        "options": SMALL,
    }
