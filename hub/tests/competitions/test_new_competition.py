"""`cw hub competition new`: as the form of the browser, with dates and another one as a model."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from cw.cli import main
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import CompetitionFacts, Dates, dates_of
from cw_hub.competitions.tournament.teams import groups_of
from cw_hub.operation.resources import Resources
from hub.tests.conftest import ON_SQLITE

pytestmark = ON_SQLITE

CUP = ("spring", "--format", "cup", "--game", "paint")
DUEL = ("duel", "--format", "tournament", "--game", "hexagon")
STARTS = ("--starts", "2100-01-31T18:00", "--ends", "2100-02-28T18:00")
ZONE = ("--zone", "Europe/Athens")
MOMENTS = Dates(datetime(2100, 1, 31, 16, tzinfo=UTC), datetime(2100, 2, 28, 16, tzinfo=UTC))


class Operator:
    """Types `cw hub competition` beside a site."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    def say(self, *words: str, code: int = 0) -> str:
        """Return what a command prints that ends with an exit code."""
        settings = self.resources.settings
        environment = {"CW_DATA": str(settings.data), "CW_DATABASE_URL": settings.database_url}
        typed = ["hub", "competition", *words]
        result = CliRunner().invoke(main, typed, env=environment)
        assert result.exit_code == code, result.output
        return result.output

    def find(self, name: str) -> tuple[CompetitionFacts, Dates]:
        with self.resources.database.reading() as session:
            facts = competitions_service.named(session, name)
            return facts, dates_of(session, facts.id)


@pytest.fixture
def operator(resources: Resources) -> Operator:
    return Operator(resources)


def test_it_begins_and_ends_by_itself_in_a_time_zone(operator: Operator) -> None:
    words = operator.say("new", *CUP, *STARTS, *ZONE)
    assert "announce it with: cw hub competition announce cup/spring" in words
    facts, dates = operator.find("cup/spring")
    assert (facts.state, facts.zone, dates) == ("draft", "Europe/Athens", MOMENTS)


def test_another_like_it_has_its_game_settings_and_zone(operator: Operator) -> None:
    operator.say("new", *CUP, *ZONE)
    operator.say("set", "cup/spring", "contest=knockout", "bots=Ann,Bob")
    printed = operator.say("new", "summer", "--like", "cup/spring", *STARTS, "--json")
    assert json.loads(printed) == {"competition": "cup/summer"}
    facts, dates = operator.find("cup/summer")
    before, _ = operator.find("cup/spring")
    assert (facts.game, facts.settings) == ("paint", before.settings)
    assert facts.settings["contest"] == "knockout"
    assert dates == MOMENTS


def test_a_tournament_has_dates_and_may_be_like_another(operator: Operator) -> None:
    assert "Token of the host" in operator.say("new", *DUEL, *STARTS, *ZONE)
    operator.say("set", "tournament/duel", "round_every=60")
    operator.say("add-sandbox", "duel", "Lyon")
    assert operator.find("tournament/duel")[1] == MOMENTS
    assert "Token of the host" in operator.say("new", "rematch", "--like", "tournament/duel")
    facts, dates = operator.find("tournament/rematch")
    assert (facts.game, facts.settings, dates) == ("hexagon", {"round_every": 60}, Dates())
    with operator.resources.database.reading() as session:
        assert [group.name for group in groups_of(session, facts.id)] == ["MAIN", "Lyon"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--starts", "soon"), "'soon' is not a time (try 2027-01-31T18:00)"),
        (("--starts", "2001-01-31T18:00"), "the start is in the past"),
        (("--starts", "2100-02-01T18:00", "--ends", "2100-01-01T18:00"), "must end after its"),
        (("--zone", "Atlantis"), "time zone"),
        (("--like", "cup/none"), "there is no competition cup/none"),
        (("--like", "rated/model"), "rated/model has the format rated, not cup"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_created(
    operator: Operator, more: tuple[str, ...], message: str
) -> None:
    operator.say("new", "model", "--format", "rated", "--game", "paint")
    assert message in operator.say("new", *CUP, *more, code=2)
    assert "cup/spring" not in operator.say("list")


def test_games_of_a_daily_competition_are_told_begun_and_skipped(operator: Operator) -> None:
    name = "daily/end-of-codes"
    operator.say("new", "daily", "end-of-codes")
    assert operator.say("next", name) == "no game is planned\n"
    assert operator.say("resume", name) == f"{name} is running\n"
    first, *others = json.loads(operator.say("next", name, "--json"))["next"]
    assert len(others) == 4
    assert operator.say("skip", name) == f"cancelled the game at {first}\n"
    assert operator.say("next", name).splitlines()[0] == others[0]
    assert operator.say("run", name).startswith("queued m_")
    operator.say("new", "rated", "paint")
    assert "rated/paint has no due times: it is not daily" in operator.say("run", "paint", code=2)
