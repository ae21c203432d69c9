"""Tournaments of a demonstration hub: one ends soon, one keeps running, one is planned."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.tournament.creation import TournamentConfig, create
from cw_hub.competitions.tournament.events import NewEvent
from cw_hub.competitions.tournament.groups import NewGroup
from cw_hub.competitions.tournament.people.invitations import invite
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.competitions.tournament.teams.enrolment import NewTeam

FINAL: Final = "FINAL"

FINAL_AFTER: Final = timedelta(minutes=2)
OVER_AFTER: Final = timedelta(minutes=4)
PLANNED_AFTER: Final = timedelta(days=14)

ROUND_EVERY: Final = 300
"""Seconds between rounds of the tournament that keeps running."""

DUEL: Final = {
    "Athens": (("Owls", "greedy"), ("Olives", "greedy"), ("Columns", "random")),
    "Lyon": (("Lions", "greedy"), ("Silk", "greedy"), ("Bridges", "random")),
}
"""The groups of the tournament that ends soon, with teams and their strategies."""

LEAGUE_BOARDS: Final = [{"name": "Square", "options": {"board": "square", "turns": 60}}]
LEAGUE: Final = (
    ("Brush", "greedy"), ("Easel", "greedy"), ("Palette", "walker"), ("Splash", "random"),
)  # fmt: skip
"""The teams of the tournament that keeps running."""

OF_LEAGUE: Final = """Four house bots paint a square against each other, round after round.

Watch a match, and read the [rules of Paint](/games/paint/rules).
"""
OF_CUP: Final = """For **teams of up to four people**, with a bot in any language. The best of
them win a place on the podium.

1. Open the invitation, and form a team.
2. Upload a bot, and let it practise.
3. Be there when the cup begins: the ladder plays by itself.

The [rules of Circuit Wars](/games/circuit-wars/rules) are short.
"""


def begin_tournaments(session: Session, clock: Clock) -> None:
    """Create the tournaments. Idempotent: existing ones stay as they are."""
    for config in (soon_over(clock()), running_on(clock()), planned(clock())):
        if competitions.find(session, FORMAT, config.slug) is None:
            new = create(session, clock, config)
            if not config.teams:
                invite(session, clock, new.id)


def soon_over(now: datetime) -> TournamentConfig:
    """Return a tournament of two groups and a final that ends within minutes."""
    return TournamentConfig(
        "hexagon-duel",
        "hexagon",
        "Hexagon duel",
        settings={"boards": [{"options": {"size": 3}}], "finalists": 1, "round_every": 20},
        groups=[*map(NewGroup, (*DUEL, FINAL))],
        teams=[team for group, teams in DUEL.items() for team in house_teams(teams, group)],
        events=[
            NewEvent("start", now, "Both groups begin"),
            NewEvent("final", now + FINAL_AFTER, "The first of each group meet", group=FINAL),
            NewEvent("end", now + OVER_AFTER, "Prizes"),
        ],
    )


def running_on(now: datetime) -> TournamentConfig:
    """Return a tournament that runs slowly for as long as the hub does."""
    return TournamentConfig(
        "paint-league",
        "paint",
        "Paint league",
        settings={"boards": LEAGUE_BOARDS, "round_every": ROUND_EVERY},
        teams=house_teams(LEAGUE),
        events=[NewEvent("start", now, "The league begins")],
        description=OF_LEAGUE,
    )


def planned(now: datetime) -> TournamentConfig:
    """Return a tournament that people can still join by its invitation."""
    return TournamentConfig(
        "circuit-cup",
        "circuit-wars",
        "Circuit Wars cup",
        groups=[NewGroup("Open")],
        events=[
            NewEvent(
                "start", now + PLANNED_AFTER, "The cup begins",
                "Form a team by the invitation, upload a bot, and practise until then.",
                announced=True,
            )
        ],
        description=OF_CUP,
    )  # fmt: skip


def house_teams(teams: Sequence[tuple[str, str]], group: str = "") -> list[NewTeam]:
    """Return teams that play built-in strategies."""
    return [NewTeam(name, group, f"builtin:{strategy}") for name, strategy in teams]
