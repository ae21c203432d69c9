"""Matches of comparisons: each is a pair, two games of one seed with swapped seats."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from cw_hub.bots import programs
from cw_hub.bots.seats import PROGRAM, ClaimedSeat
from cw_hub.matches.claims import Claim
from cw_hub.matches.kinds import Guests, Kind
from cw_hub.operation.resources import Resources
from cw_hub.store.tables import Bot, BotVersion, Comparison, MatchParticipant

NAME: Final = "comparison"

GAMES: Final = 2
"""Games of a match: each version takes each seat once."""


def key_of(comparison: int, pair: int) -> str:
    """Return the key of a comparison's pair, which is numbered from 0."""
    return f"{comparison} {pair}"


def claim_versions(session: Session, claim: Claim) -> Claim:
    """Return a claim with the compared versions, and record them.

    A deleted version plays no more: its seat stays empty.
    """
    comparison = session.get(Comparison, int(claim.key.partition(" ")[0]))
    numbers = (comparison.new, comparison.old) if comparison else (None, None)
    seats = tuple(
        seat
        if seat.spec and not (seat.bot_id or seat.spec.startswith(PROGRAM))
        else with_version(session, comparison, seat, number)
        for seat, number in zip(claim.seats, numbers, strict=True)
    )
    for slot, seat in enumerate(seats):
        its = (MatchParticipant.match_id == claim.id, MatchParticipant.slot == slot)
        session.execute(update(MatchParticipant).where(*its).values(version=seat.version))
    return replace(claim, seats=seats, battles=GAMES)


def with_version(
    session: Session, comparison: Comparison | None, seat: ClaimedSeat, number: int | None
) -> ClaimedSeat:
    """Return a seat with a version of the compared bot, or without one if it is gone."""
    version = None
    if comparison is not None:
        query = select(BotVersion).join(Bot, Bot.id == BotVersion.bot_id)
        its = (BotVersion.bot_id == comparison.bot_id, BotVersion.number == number)
        version = session.scalar(query.where(*its, Bot.status.not_in(("SUSPENDED", "RETIRED"))))
    spec = f"{PROGRAM}{version.sha256}" if version else ""
    return replace(seat, spec=spec, version=version.number if version else None)


def older_version(resources: Resources, claim: Claim) -> Guests:
    """Return the second version, unless a strategy has its seat.

    A bot has one slot per match, so the second version is brought as a guest.
    """
    new, old = claim.seats
    seats = programs.uploads([replace(new, name=old.name, spec=old.spec)])
    hosting = programs.hosting_of_people(resources.settings)
    return Guests(
        {seat.name: programs.placeholder(seat, hosting) for seat in seats},
        programs=lambda: programs.sent(resources.objects, seats, hosting),
    )


COMPARISON: Final = Kind(
    name=NAME,
    is_public=False,
    is_experiment=True,
    battles=GAMES,
    plays_at_once=True,
    keeps="none",
    claim=claim_versions,
    invite=older_version,
)
