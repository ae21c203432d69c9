"""Definition of the cup format and its API routes."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, convert

from cw.errors import UsageError
from cw.league.contest_formats import FORMATS
from cw_hub.api import Routes, document
from cw_hub.competitions.cup import pages, queued
from cw_hub.competitions.cup import service as cup_service
from cw_hub.competitions.cup.pages import content, find
from cw_hub.competitions.cup.service import NAME, USUAL
from cw_hub.competitions.format import Format
from cw_hub.competitions.forms import OPTIONS_HINT, SettingField
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.pages.layout import address_of
from cw_hub.pages.request import one_reading
from cw_hub.store.models import CompetitionState

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
    """Convert a table of a contest's report to its API response."""
    rows = [convert({**row, "name": names[row["team"]]}, CupRow) for row in standing["rows"]]
    return CupTable(name=standing["name"], done=standing["done"], rows=rows)


OTHERS: Final = [name for name in FORMATS if name != USUAL]


FIELDS: Final = (
    SettingField(name="contest", label="Contest", kind="choice", choices=(USUAL, *OTHERS)),
    SettingField(
        name="bots",
        label="Bots",
        hint="Their names, separated by commas, the strongest first.",
    ),
    SettingField(name="groups", label="Groups", hint="For contests with groups."),
    SettingField(name="players", label="Players of a match", hint="For free-for-all."),
    SettingField(name="rounds", label="Rounds", hint="For Swiss and free-for-all."),
    SettingField(name="options", label="Options of the game", hint=OPTIONS_HINT, kind="json"),
)


class Cup(Format):
    """Contests of bots: round-robin, knockout, Swiss and others."""

    name = NAME
    takes_bots = True
    about = "Bots of players play one contest: round-robin, knockout, Swiss and others."
    fields = FIELDS
    plans_next = True

    plan = staticmethod(cup_service.plan)
    change = staticmethod(cup_service.change)
    steer = staticmethod(cup_service.steer)
    claim = staticmethod(cup_service.touch)
    external_bots = staticmethod(queued.external_bots)
    report_key = staticmethod(queued.report)
    lock_rows = staticmethod(cup_service.touch)
    finish = staticmethod(cup_service.finish)
    install = staticmethod(pages.install)
    pages = (pages.routes,)
    api = routes.operations
    chores = MappingProxyType({"parcels": queued.forget})

    def address(self, facts: CompetitionFacts) -> str:
        """Return the URL of a cup's page."""
        return address_of("cups.page", slug=facts.slug)


FORMAT: Final = Cup()
