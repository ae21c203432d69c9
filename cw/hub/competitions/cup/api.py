"""What the API answers of cups: how each stands."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from cw.errors import UsageError
from cw.hub.api.documents import document
from cw.hub.api.operations import Routes
from cw.hub.competitions.cup.pages import content, find
from cw.hub.competitions.cup.settings import USUAL
from cw.hub.pages.request import one_reading
from cw.hub.store.tables import CompetitionState

routes: Final = Routes()


class CupRow(Struct, frozen=True, kw_only=True):
    """A bot in a table; equal ones share a rank, and a rest counts as won in a Swiss contest."""

    rank: int
    name: str
    wins: int
    draws: int
    losses: int
    rests: int


class CupTable(Struct, frozen=True, kw_only=True):
    """The table of a group or stage; it is done once all its matches are over."""

    name: str
    done: bool
    rows: list[CupRow]


class CupFacts(Struct, frozen=True, kw_only=True):
    """A cup as it stands: `played` of about `expected` matches; no tables before it can begin."""

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
    """Return a table of the report of a contest as a document."""
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
