"""Fills a demonstration hub with users, bots, matches and competitions to explore."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import select

from cw.games.registry import load_strategies
from cw.league.due_times import DAY
from cw_hub.accounts import administration
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.service import Passwords
from cw_hub.bots import service as bots_service
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.cup import service as cup_service
from cw_hub.competitions.daily import service as daily_service
from cw_hub.competitions.daily.service import GAME
from cw_hub.competitions.rated import service as rated_service
from cw_hub.competitions.tournament.people import invite
from cw_hub.competitions.tournament.service import NewEvent, TournamentConfig, create
from cw_hub.competitions.tournament.settings import FORMAT
from cw_hub.competitions.tournament.teams import NewGroup, NewTeam
from cw_hub.matches.friendly import practise
from cw_hub.operation.resources import Resources
from cw_hub.site.processes import begin_site
from cw_hub.store.database import Session
from cw_hub.store.models import Bot
from cw_hub.store.sealing import stored_key

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
3. When the cup begins, the ladder plays automatically.

The [rules of Circuit Wars](/games/circuit-wars/rules) are short.
"""


def begin_tournaments(session: Session) -> None:
    """Create the tournaments. Idempotent: existing ones stay as they are."""
    for config in (soon_over(session.now()), running_on(session.now()), planned(session.now())):
        if competitions_service.find(session, FORMAT, config.slug) is None:
            new = create(session, config)
            if not config.teams:
                invite(session, new.id)


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
    """Return a tournament that continues slowly for as long as the hub runs."""
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
    """Return a tournament that users can still join by its invitation."""
    return TournamentConfig(
        "circuit-cup",
        "circuit-wars",
        "Circuit Wars cup",
        groups=[NewGroup("Open")],
        events=[
            NewEvent(
                "start", now + PLANNED_AFTER, "The cup begins",
                "Open the invitation, form a team, upload a bot and practise until then.",
                announced=True,
            )
        ],
        description=OF_CUP,
    )  # fmt: skip


def house_teams(teams: Sequence[tuple[str, str]], group: str = "") -> list[NewTeam]:
    """Return teams that play built-in strategies."""
    return [NewTeam(name, group, f"builtin:{strategy}") for name, strategy in teams]


class DemoBot(NamedTuple):
    """A bot of the demonstration hub: a built-in strategy with its own name."""

    owner: str
    game: str
    name: str
    strategy: str
    opponent: str


PEOPLE: Final = ("ada", "grace", "alan")
"""The first is an admin."""
BOTS_OF_LEAGUE: Final = (
    "Amber Basalt Cobalt Dune Ember Fjord Granite Harbor Indigo Juniper Kelp Lagoon Marble Nimbus"
    " Onyx Prism Quartz Ridge Sable Tundra Umber Vale Willow Xenon Yarrow Zephyr Aurora Breeze"
    " Cinder Delta Echo"
).split()
"""Names of Code Battle bots; with those below and the house bots there are forty."""

SHORT: Final = {"max_turns": 40}
"""Options of the rated matches, chosen so that many are soon played."""

WARM_UP: Final = 300
"""Number of rated matches played immediately; then the bots continue slowly, without end."""

REST: Final = 300.0
"""Seconds between matches of a bot after the warm-up."""

RATED: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "circuit-wars": ("Circuit Wars", {}),
    "hexagon": ("Hexagon", {}),
    "paint": ("Paint", {"turns": 60}),
}
"""Titles and options of the rated competitions, except the one that every site starts with."""

RATED_WARM_UP: Final = 60
"""Number of matches played immediately in each of them."""

CUP: Final = ("hexagon", "Hexagon cup", {"contest": "round-robin"})
"""A contest that ends within minutes: its game, title and settings."""

BOTS: Final = (
    DemoBot("ada", "hexagon", "Honeycomb", "expert", "greedy"),
    DemoBot("ada", "code-battle", "Swarmling", "swarm", "rusher"),
    DemoBot("ada", "circuit-wars", "Closer", "greedy", "mirror"),
    DemoBot("ada", "paint", "Brushwork", "greedy", "walker"),
    DemoBot("grace", "hexagon", "Nanosecond", "greedy", "random"),
    DemoBot("grace", "paint", "Compiler", "walker", "random"),
    DemoBot("alan", "code-battle", "Enigma", "hunter", "gatherer"),
    DemoBot("alan", "circuit-wars", "Halting", "safe", "random"),
)


MORE: Final = (
    "barbara", "blaise", "carl", "charles", "claude", "dennis", "donald",
    "edsger", "elena", "emmy", "erna",
    "evelyn", "frances", "george", "hedy", "hypatia", "ida", "jean", "john", "karen", "katherine",
    "ken", "konrad", "leslie", "linus", "lynn", "margaret", "mary", "maurice", "niklaus", "noam",
    "radia",
    "robin", "shafi", "sophie", "tim", "tony",
)  # fmt: skip
"""The other players of End of Codes; with PEOPLE there are 40."""

COUNTRIES: Final = ("GR", "GB", "US", "DE", "FR", "NL", "NO", None)
FRIENDS: Final = ("grace", "edsger", "hypatia", "radia")
"""Friends of the first player."""

GAMES: Final = 20
"""Number of daily games that are due before the hub starts, and played when it does."""

SMALL: Final = {"M": 2, "MAX_HP": 1, "max_rounds": 300}


def fill(resources: Resources) -> str:
    """Fill an empty hub; return the password of its users. Idempotent.

    Everything is created in one transaction, so that a hub is never partly filled.
    """
    password = stored_key(resources.settings.data / "demo.key", lambda: secrets.token_hex(6))
    hashed = Passwords().hash(password)
    with resources.database.writing() as session:
        if accounts_service.find_account(session, PEOPLE[0]) is None:
            make_everything(session, hashed)
    begin_site(resources, house_plays=True, rest=REST, options=SHORT, warm_up=WARM_UP)
    with resources.database.writing() as session:
        begin_more(session)
        begin_tournaments(session)
    return password


def make_everything(session: Session, password_hash: str) -> None:
    """Create the users, their bots with a practice match each, and past daily games."""
    ids = {
        name: accounts_service.register(session, name, f"{name}@example.org", password_hash)[0]
        for name in (*PEOPLE, *MORE)
    }
    owners = [*ids.values()]
    strategies = list(load_strategies("code-battle"))
    for number, name in enumerate(BOTS_OF_LEAGUE):
        owner, strategy = owners[number % len(owners)], strategies[number % len(strategies)]
        bots_service.add_builtin(session, owner, "code-battle", name, strategy)
    for bot in BOTS:
        added = bots_service.add_builtin(session, ids[bot.owner], bot.game, bot.name, bot.strategy)
        practise(session, added, bot.opponent)
    for number, (name, user_id) in enumerate(ids.items()):
        bots_service.add_builtin(session, user_id, GAME, name, "sample")
        accounts_service.save_profile(session, user_id, COUNTRIES[number % len(COUNTRIES)], None)
    administration.set_role(session, PEOPLE[0], "admin")
    for friend in FRIENDS:
        accounts_service.befriend(session, ids[PEOPLE[0]], friend)
    plan_history(session)


def begin_more(session: Session) -> None:
    """Start rated play of more games, and a cup between bots of one of them. Idempotent."""
    for game, (title, options) in RATED.items():
        how = {"options": options, "house_plays": True, "rest": REST, "warm_up": RATED_WARM_UP}
        rated_service.begin(session, game, title, same_owner=True, **how)
    game, title, settings = CUP
    if competitions_service.find(session, cup_service.NAME, game) is None:
        names = session.scalars(select(Bot.name).where(Bot.game == game).order_by(Bot.id)).all()
        new = competitions_service.new(
            session,
            cup_service.NAME,
            game,
            title=title,
            settings={**settings, "bots": [*names]},
        )
        competitions_service.set_state(session, new.id, "running")


def plan_history(session: Session) -> None:
    """Plan small daily games for the past days."""
    daily_service.begin_site(session)
    competition = competitions_service.named(session, f"{daily_service.FORMAT}/{GAME}")
    competitions_service.set_values(session, competition.id, {"options": SMALL})
    competition = competitions_service.named(session, f"{daily_service.FORMAT}/{GAME}")
    today = daily_service.read_settings(competition.settings).due.latest(session.now())
    for back in range(GAMES, 0, -1):
        daily_service.add_game(session, competition, today - back * DAY)
