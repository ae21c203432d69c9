"""Cups: any contest of `cw.league`, between users' bots or for a championship run elsewhere."""

from __future__ import annotations

from typing import Final

from cw.league.contest_formats import FORMATS
from cw_hub.competitions.cup import api, keys, pages, parcels, verbs
from cw_hub.competitions.cup.settings import NAME, USUAL
from cw_hub.competitions.format import Format, HomeCard
from cw_hub.competitions.setting_fields import OPTIONS_HINT, SettingField
from cw_hub.competitions.verbs import CompetitionFacts
from cw_hub.matches.kinds import Kind
from cw_hub.pages.parts import address_of

OTHERS: Final = [name for name in FORMATS if name != USUAL]


def address(cup: CompetitionFacts) -> str:
    """Return the address of a cup."""
    return address_of("cups.page", slug=cup.slug)


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

KIND: Final = Kind(
    name=NAME,
    claim=verbs.claim,
    invite=parcels.guests,
    report=parcels.report,
    hold=verbs.hold,
    finish=verbs.finish,
    plans_next=True,
)

FORMAT: Final = Format(
    kind=KIND,
    plan=verbs.plan,
    takes_bots=True,
    change=verbs.change,
    steer=verbs.steer,
    about="Bots of players play one contest: round-robin, knockout, Swiss and others.",
    fields=FIELDS,
    home=HomeCard(address=address),
    pages=(pages.routes,),
    api=api.routes.operations,
    install=pages.install,
    chores={"parcels": keys.forget},
)
