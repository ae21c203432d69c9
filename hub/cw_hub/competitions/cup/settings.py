"""The settings of a cup: a contest of `cw.league`, and the users' bots that take part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from cw.championship.config import ChampionshipSettings
from cw.errors import UsageError, choices, short
from cw.league.contest_formats import FORMATS
from cw.league.fixtures import Fixture
from cw_hub.bots.views import name_key
from cw_hub.competitions.verbs import SINCE, CompetitionFacts
from cw_hub.matches.planning import Seat
from cw_hub.pages.queries import whole_number
from cw_hub.store.tables import Bot

NAME: Final = "cup"

USUAL: Final = "round-robin"
"""The default contest of a cup."""

NUMBERS: Final = ("groups", "players", "rounds")

MOST_OPEN: Final = 256
"""Default limit of a cup's open matches."""


def settings_of(cup: CompetitionFacts) -> ChampionshipSettings:
    """Return the settings of a cup; raise UsageError if they are invalid.

    Its bots are in order of entry, strongest first.
    """
    values = {name: value for name, value in cup.settings.items() if name != SINCE}
    contest = values.pop("contest", USUAL)
    if contest not in FORMATS:
        raise UsageError(f"there is no contest {contest!r}; {choices(str(contest), FORMATS)}")
    numbers = {name: number(name, values.pop(name, None)) for name in NUMBERS}
    bots, options = values.pop("bots", ()), values.pop("options", {})
    bots = values.pop("entrants", bots)
    for name in set(values) - {"parallel", "at_once"}:
        raise UsageError(f"a cup has contest, bots, {', '.join(NUMBERS)} and options, not {name}")
    if not isinstance(options, dict):
        raise UsageError("options must be a JSON object, such as {}")
    names = tuple(bots.split(",")) if isinstance(bots, str) else tuple(bots)
    return ChampionshipSettings(
        names,
        "",
        cup.game,
        contest,
        cup.seed,
        groups=numbers["groups"],
        players=numbers["players"],
        rounds=numbers["rounds"],
        options=options,
    )


def number(name: str, value: Any) -> int | None:
    """Return a number from 1 to 1000, or None for None; raise UsageError for anything else."""
    if value is None:
        return None
    text = str(value)
    number = whole_number(text, 1, 1000)
    if number is None:
        raise UsageError(f"{name} must be a whole number from 1 to 1000, not {short(text)}")
    return number


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the open matches of a cup."""

    at_once: int
    of_each: int | None
    """For bots without a limit of their own; None: unlimited."""
    parallel: Mapping[str, int]
    """Limits of individual bots."""

    def allow(self, fixture: Fixture, busy: Mapping[str, int]) -> bool:
        """Return whether every player of a fixture may play one more match."""
        most = (self.parallel.get(name, self.of_each) for name in fixture.players)
        return all(
            limit is None or busy[name] < limit
            for name, limit in zip(fixture.players, most, strict=True)
        )


def limits_of(cup: CompetitionFacts) -> Limits:
    """Return the limits of a cup; users' bots play one match of it at a time."""
    of_each = None if "entrants" in cup.settings else 1
    return Limits(cup.settings.get("at_once", MOST_OPEN), of_each, cup.settings.get("parallel", {}))


def seats_of(session: Session, cup: CompetitionFacts) -> Mapping[str, Seat]:
    """Return the seats by name: users' bots, or bots sent by a championship.

    Raises UsageError for a name without a bot of this game.
    """
    if "entrants" in cup.settings:
        return {name: Seat(name, spec=spec) for name, spec in cup.settings["entrants"].items()}
    keys = {name_key(name): name for name in settings_of(cup).teams}
    query = select(Bot).where(
        Bot.game == cup.game, Bot.user_id.is_not(None), Bot.name_key.in_(keys)
    )
    seats = {
        keys[bot.name_key]: Seat(keys[bot.name_key], bot_id=bot.id)
        for bot in session.scalars(query)
    }
    missing = [name for name in keys.values() if name not in seats]
    if missing:
        raise UsageError(f"there is no bot {missing[0]!r} that plays {cup.game}")
    return seats


def check(session: Session, cup: CompetitionFacts) -> None:
    """Raise UsageError unless a cup can be played with its settings."""
    settings = settings_of(cup)
    seats_of(session, cup)
    settings.check()
