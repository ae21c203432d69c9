"""Programs of people in each kind of competition of one hub: played by workers, in the sandbox."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.cup.format import FORMAT as CUP
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.tournament.service import TournamentConfig
from cw_hub.competitions.tournament.teams import NewGroup, NewTeam
from cw_hub.matches.planning import of_programs
from cw_hub.players import packages
from cw_hub.site.processes import tick
from cw_hub.store.models import Match, MatchParticipant
from hub.tests.bots.test_programs_of_people import KIT, Owner, register
from hub.tests.competitions.tournament.test_own_programs import pass_checks
from hub.tests.conftest import ON_SQLITE
from hub.tests.evening import MY_TEAM, Evening
from hub.tests.sites import Site
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = [
    NEEDS_BUBBLEWRAP,
    ON_SQLITE,
]

SHORT = {"board": "duel", "turns": 10}
BOTS = ("Painter", "Roller")
MOVES = {"Painter": '("walk", (1, 0))', "Roller": '("shoot", (1, 0))'}
"""What each does in every turn: to walk wins four squares here, to shoot one."""


def program(bot: str) -> bytes:
    """Return the kit of a bot that does the same in every turn."""
    source = KIT["bot.py"].replace(b"random.choice(ACTIONS)", MOVES[bot].encode())
    return packages.pack({**KIT, "bot.py": source})


class Hub:
    """A hub on which ann and bob have a program each, whose checks are taken to be passed."""

    def __init__(self, site: Site) -> None:
        self.site, self.resources = site, site.resources
        self.owners = {name: Owner(site, name) for name in ("ann", "bob")}
        for owner, bot in zip(self.owners.values(), BOTS, strict=True):
            assert register(owner.browser, program(bot), name=bot).status_code == 303
        pass_checks(site)

    def played(self, kind: str) -> list[dict[str, tuple[int | None, int]]]:
        """Return of each match of a kind the versions that played, and how many faults each had."""
        query = (
            select(Match.id, MatchParticipant.name, MatchParticipant)
            .join(MatchParticipant, MatchParticipant.match_id == Match.id)
            .where(Match.kind == kind, Match.state == "done")
        )
        matches: dict[int, dict[str, tuple[int | None, int]]] = {}
        with self.resources.database.reading() as session:
            for match, name, seat in session.execute(query):
                matches.setdefault(match, {})[name] = (seat.version, len(seat.faults))
        return list(matches.values())

    def cup(self) -> None:
        """Play a cup between the two programs."""
        with self.resources.database.writing() as session:
            new = competitions_service.new(session, "cup", "paint", slug="spring", title="Spring")
            facts = competitions_service.facts_of(competitions_service.lock(session, new.id))
            CUP.change(session, facts, {"bots": ",".join(BOTS), "options": SHORT})
            facts = competitions_service.facts_of(competitions_service.lock(session, new.id))
            CUP.steer(session, facts, "running")
        while not self.is_over("cup/spring"):
            tick(self.resources)
            with self.resources.database.reading() as session:
                waiting = select(Match.id).where(Match.kind == "cup", Match.state == "queued")
                ids = set(session.scalars(waiting))
                assert of_programs(session, ids) == ids
            self.owners["ann"].do_jobs()

    def is_over(self, competition: str) -> bool:
        with self.resources.database.reading() as session:
            return competitions_service.named(session, competition).state == "over"

    def daily_game(self) -> None:
        """Play a daily game."""
        with self.resources.database.writing() as session:
            of = competitions_service.new(session, "daily", "paint")
            competitions_service.set_state(session, of.id, "running")
            competitions_service.set_values(session, of.id, {"options": {"turns": 10}})
            daily_service.begin(session, of.id)
        tick(self.resources)
        self.owners["ann"].do_jobs()

    def tournament(self) -> None:
        """Play a round of a tournament in which each person lets a copy play for a team."""
        settings = {"boards": [{"options": SHORT}], "battles": 1, "round_every": 60}
        groups, teams = [NewGroup("GRODNO")], [NewTeam(name, "GRODNO") for name in ("Alef", "Bet")]
        config = TournamentConfig("t1", "paint", "Duel", 1, settings, groups, teams)
        evening = Evening(self.site, config)
        for team, owner, bot in zip(evening.teams.values(), self.owners, BOTS, strict=True):
            assert team.log_in(owner).status_code == 303
            with self.resources.database.reading() as session:
                view = bots_service.find(session, "paint", bot)
            assert view is not None
            answer = team.fill(f"{MY_TEAM}/own-program", on=MY_TEAM, bot=view.bot_id)
            assert answer.status_code == 303, answer.text
        evening.does("start")
        assert evening.do_jobs() == 1
        points = evening.points()
        assert points["Alef"] > points["Bet"]


FINE = dict.fromkeys(BOTS, (1, 0))
"""Both programs have played with their first version, and without a fault."""


def test_programs_of_people_play_a_cup(site: Site) -> None:
    hub = Hub(site)
    hub.cup()
    (first, *replayed) = hub.played("cup")
    assert first == FINE
    # Equal scores are played off.
    assert all(match == FINE for match in replayed)


@pytest.mark.thorough
def test_programs_of_people_play_in_all_competitions_of_one_hub(site: Site) -> None:
    hub = Hub(site)
    hub.owners["ann"].rated()
    assert (1, 0) in [seats.get("Painter") for seats in hub.played("rated")]
    hub.cup()
    assert FINE in hub.played("cup")
    hub.daily_game()
    (game,) = hub.played("daily")
    assert {name: game[name] for name in BOTS} == FINE
    hub.tournament()
    assert hub.played("tournament") == [{"alef": (1, 0), "bet": (1, 0)}]
