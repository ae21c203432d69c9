"""Cups: any contest of `cw.league`, between bots of people, or of a championship run elsewhere."""

from __future__ import annotations

from typing import Final

from cw.hub.competitions.cup import keys, pages, parcels, verbs
from cw.hub.competitions.cup.settings import NAME
from cw.hub.competitions.format import Format, HomeCard
from cw.hub.competitions.verbs import CompetitionFacts
from cw.hub.matches.kinds import Kind
from cw.hub.pages.parts import address_of


def address(cup: CompetitionFacts) -> str:
    """Return the address of a cup."""
    return address_of("cups.page", slug=cup.slug)


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
    home=HomeCard(address=address),
    pages=(pages.routes,),
    install=pages.install,
    chores={"parcels": keys.forget},
)
