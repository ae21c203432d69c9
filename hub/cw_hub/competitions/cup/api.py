"""The standings of cups in the API."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from cw.errors import UsageError
from cw_hub.api.documents import document
from cw_hub.api.operations import Routes
from cw_hub.competitions.cup.pages import content, find
from cw_hub.competitions.cup.settings import USUAL
from cw_hub.pages.request import one_reading
from cw_hub.store.tables import CompetitionState

routes: Final = Routes()


class CupRow(Struct, frozen=True, kw_only=True):
    """A bot in a table; tied bots share a rank, and a bye in a Swiss contest counts as a win."""

    rank: int
    name: str
    wins: int
    draws: int
    losses: int
    rests: int


class CupTable(Struct, frozen=True, kw_only=True):
    """The table of a group or stage; done once all its matches are over."""

    name: str
    done: bool
    rows: list[CupRow]


class CupFacts(Struct, frozen=True, kw_only=True):
    """The state of a cup: `played` of about `expected` matches; no tables until it can begin."""

    slug: str
    game: str
    title: str
    description: str
    state: CompetitionState
    contest: str
    played: int
    expected: int
    tables: list[CupTable]


@routes.add("GET", "/cups/<cup>")
def cup_tables(cup: str) -> CupFacts:
    """Return a cup with the tables of its contest."""
    with one_reading() as reading:
        facts = find(reading, cup)
        try:
            stand = content(reading, facts)
        except UsageError:
            stand = {"played": 0, "expected": 0, "standings": []}
    return document(
        CupFacts,
        facts,
        contest=facts.settings.get("contest", USUAL),
        played=stand["played"],
        expected=stand["expected"],
        tables=[table(standing, stand["team_names"]) for standing in stand["standings"]],
    )


def table(standing: dict[str, Any], names: dict[str, str]) -> CupTable:
    """Return a table of a contest's report as an API document."""
    rows = [
        CupRow(
            rank=row["rank"],
            name=names[row["team"]],
            wins=row["wins"],
            draws=row["draws"],
            losses=row["losses"],
            rests=row["rests"],
        )
        for row in standing["rows"]
    ]
    return CupTable(name=standing["name"], done=standing["done"], rows=rows)
