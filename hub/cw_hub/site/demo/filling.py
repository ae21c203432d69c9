"""The content of a demonstration hub: people, bots, and matches between them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.games.registry import load_strategies
from cw.league.due_times import DAY
from cw_hub.accounts import people, profiles, users
from cw_hub.accounts.access.passwords import Passwords
from cw_hub.bots import verbs as bots
from cw_hub.clock import Clock
from cw_hub.competitions import verbs as competitions
from cw_hub.competitions.cup import settings as cup
from cw_hub.competitions.daily import verbs as daily
from cw_hub.competitions.daily.entrants import GAME
from cw_hub.competitions.rated import verbs as rated
from cw_hub.matches.practice import practise
from cw_hub.operation.resources import Resources
from cw_hub.site.demo.tournaments import begin_tournaments
from cw_hub.site.processes.begin import begin_site
from cw_hub.store.sealing import stored_key
from cw_hub.store.tables import Bot


class DemoBot(NamedTuple):
    """A bot of the demonstration: a built-in strategy with its own name."""

    owner: str
    game: str
    name: str
    strategy: str
    opponent: str


PEOPLE: Final = ("ada", "grace", "alan")
"""The first is an admin."""
LEAGUE: Final = (
    "Amber Basalt Cobalt Dune Ember Fjord Granite Harbor Indigo Juniper Kelp Lagoon Marble Nimbus"
    " Onyx Prism Quartz Ridge Sable Tundra Umber Vale Willow Xenon Yarrow Zephyr Aurora Breeze"
    " Cinder Delta Echo"
).split()
"""Names of Code Battle bots: with those below and the house bots there are forty."""

SHORT: Final = {"max_turns": 40}
"""Options of the rated matches, chosen so that many are played soon."""

WARM_UP: Final = 300
"""Rated matches played at once; then the bots go on slowly, without end."""

REST: Final = 300.0
"""Seconds between two matches of a bot after the warm-up."""

RATED: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "circuit-wars": ("Circuit Wars", {}),
    "hexagon": ("Hexagon", {}),
    "paint": ("Paint", {"turns": 60}),
}
"""Titles and options of the rated competitions besides the one that each site starts with."""

RATED_WARM_UP: Final = 60
"""Matches of each of them played at once."""

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
"""The other players of End of Codes, 40 in all."""

COUNTRIES: Final = ("GR", "GB", "US", "DE", "FR", "NL", "NO", None)
FRIENDS: Final = ("grace", "edsger", "hypatia", "radia")
"""Friends of the first player."""

GAMES: Final = 20
"""Daily games due before the hub starts: they are played when it does."""

SMALL: Final = {"M": 2, "MAX_HP": 1, "max_rounds": 300}


def fill(resources: Resources) -> str:
    """Fill an empty hub; return the password of its people. Idempotent.

    Everything is created in one transaction, so that a hub is never partly filled.
    """
    password = stored_key(resources.settings.data / "demo.key", lambda: secrets.token_hex(6))
    hashed = Passwords().hash(password)
    with resources.database.writing() as session:
        if people.find_account(session, PEOPLE[0]) is None:
            make_everything(session, resources, hashed)
    begin_site(resources, house_plays=True, rest=REST, options=SHORT, warm_up=WARM_UP)
    with resources.database.writing() as session:
        begin_more(session, resources.clock)
        begin_tournaments(session, resources.clock)
    return password


def make_everything(session: Session, resources: Resources, password_hash: str) -> None:
    """Create the people, their bots with a practice match each, and past daily games."""
    clock = resources.clock
    ids = {
        name: people.register(session, clock, name, f"{name}@example.org", password_hash)[0]
        for name in (*PEOPLE, *MORE)
    }
    owners = [*ids.values()]
    strategies = list(load_strategies("code-battle"))
    for number, name in enumerate(LEAGUE):
        owner, strategy = owners[number % len(owners)], strategies[number % len(strategies)]
        bots.add_builtin(session, clock, owner, "code-battle", name, strategy)
    for bot in BOTS:
        added = bots.add_builtin(session, clock, ids[bot.owner], bot.game, bot.name, bot.strategy)
        practise(session, clock, added, bot.opponent)
    for number, (name, user_id) in enumerate(ids.items()):
        bots.add_builtin(session, clock, user_id, GAME, name, "sample")
        profiles.save_profile(session, user_id, COUNTRIES[number % len(COUNTRIES)], None)
    users.set_role(session, clock, PEOPLE[0], "admin")
    for friend in FRIENDS:
        profiles.befriend(session, clock, ids[PEOPLE[0]], friend)
    plan_history(session, clock)


def begin_more(session: Session, clock: Clock) -> None:
    """Start rated play of more games, and a cup between bots of one of them. Idempotent."""
    for game, (title, options) in RATED.items():
        how = {"options": options, "house_plays": True, "rest": REST, "warm_up": RATED_WARM_UP}
        rated.begin(session, clock, game, title, same_owner=True, **how)
    game, title, settings = CUP
    if competitions.find(session, cup.NAME, game) is None:
        names = session.scalars(select(Bot.name).where(Bot.game == game).order_by(Bot.id)).all()
        new = competitions.new(
            session, clock, cup.NAME, game, title=title, settings={**settings, "bots": [*names]}
        )
        competitions.set_state(session, clock, new.id, "running")


def plan_history(session: Session, clock: Clock) -> None:
    """Plan small daily games for the past days."""
    daily.begin_site(session, clock)
    competition = competitions.named(session, f"{daily.FORMAT}/{GAME}")
    competitions.set_values(session, clock, competition.id, {"options": SMALL})
    competition = competitions.named(session, f"{daily.FORMAT}/{GAME}")
    today = daily.read_settings(competition.settings).due.latest(clock())
    for back in range(GAMES, 0, -1):
        daily.add_game(session, clock, competition, today - back * DAY)
