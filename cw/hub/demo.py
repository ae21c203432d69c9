"""A hub to look around in: people, bots, and matches that they play."""

from __future__ import annotations

import secrets
from typing import Final, NamedTuple

from sqlalchemy.orm import Session

from cw.hub.resources import Resources
from cw.hub.services import bots, people
from cw.hub.services.passwords import Passwords
from cw.hub.store.sealing import kept


class DemoBot(NamedTuple):
    """A bot of the demonstration: a built-in strategy under a name of its own."""

    owner: str
    game: str
    name: str
    strategy: str
    opponent: str


PEOPLE: Final = ("ada", "grace", "alan")
BOTS: Final = (
    DemoBot("ada", "hexagon", "Honeycomb", "expert", "greedy"),
    DemoBot("ada", "code-battle", "Swarmling", "swarm", "rusher"),
    DemoBot("ada", "circuit-wars", "Closer", "greedy", "mirror"),
    DemoBot("ada", "paint", "Brushwork", "greedy", "walker"),
    DemoBot("ada", "end-of-codes", "Genesis", "hunter", "sample"),
    DemoBot("grace", "hexagon", "Nanosecond", "greedy", "random"),
    DemoBot("grace", "paint", "Compiler", "walker", "random"),
    DemoBot("alan", "code-battle", "Enigma", "hunter", "gatherer"),
    DemoBot("alan", "circuit-wars", "Halting", "safe", "random"),
)


def fill(resources: Resources) -> str:
    """Fill an empty hub; return the password of its people. Twice: it is filled already.

    All is made in one transaction, so that a hub is never filled in part.
    """
    password = kept(resources.settings.data / "demo.key", lambda: secrets.token_hex(6))
    hashed = Passwords().hash(password)
    with resources.database.writing() as session:
        if people.find_account(session, PEOPLE[0]) is None:
            make_everything(session, resources, hashed)
    return password


def make_everything(session: Session, resources: Resources, password_hash: str) -> None:
    """Make the people and their bots, and let each bot play a practice match."""
    clock = resources.clock
    ids = {
        name: people.register(session, clock, name, f"{name}@example.org", password_hash)[0]
        for name in PEOPLE
    }
    for bot in BOTS:
        added = bots.add_builtin(session, clock, ids[bot.owner], bot.game, bot.name, bot.strategy)
        bots.practise(session, clock, added, bot.opponent)
