"""A match as the arena plays it, and what came of it as the hub keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, Final

from cw.arena.bots import BotSpec
from cw.arena.referee import readable
from cw.arena.transports.base_address import check_base
from cw.errors import UsageError
from cw.games.registry import load_protocol
from cw.hub.accounts.people import HOUSE
from cw.hub.bots.addresses import isolation_of
from cw.hub.bots.programs import sandbox_of
from cw.hub.bots.seats import ClaimedSeat
from cw.hub.matches.claims import Claim
from cw.hub.matches.results import OUTPUTS, SlotResult
from cw.hub.operation.settings import HubSettings
from cw.matches.spec import MatchResult, MatchSpec

ANSWERS: Final = 3
"""Faults of a bot in a game with which the answer is kept."""

OUTPUT: Final = 2048
"""Characters that are kept of what a program wrote to its standard error, of the end."""

NO_BOT: Final = "no bot yet"
NO_ADDRESS: Final = "no server can be at its address"
NO_SECRET: Final = "no secret yet"  # noqa: S105
NO_PROGRAMS: Final[Mapping[str, BotSpec]] = {}


def spec_of(
    claim: Claim, settings: HubSettings, own: Mapping[str, BotSpec] = NO_PROGRAMS
) -> MatchSpec:
    """Return what is to be played; `own` are, by name, the bots that run here or were brought."""
    sandbox = sandbox_of(settings, claim.tournament)
    is_signed = load_protocol(claim.game).signed_with is not None
    house = [seat.name for seat in claim.seats if seat.owner == HOUSE]
    return MatchSpec(
        claim.match_id,
        claim.game,
        tuple(
            own.get(seat.name) or bot_of(seat, claim.wire_id, is_signed=is_signed)
            for seat in claim.seats
        ),
        claim.seed,
        dict(claim.options),
        isolation=isolation_of(settings, sandbox, house),
        players=claim.players,
    )


def bot_of(seat: ClaimedSeat, wire_id: str, *, is_signed: bool) -> BotSpec:
    """Return who sits at a slot, for the arena; a web service is told its match and its own id.

    Where requests are signed, a web service whose team has not fetched a secret is absent; so is
    one whose address no server can have, as the match must not fail for the others.
    """
    kind, _, name = seat.spec.partition(":")
    if not seat.spec:
        return BotSpec(seat.name, "absent", NO_BOT)
    if kind == "builtin":
        return BotSpec(seat.name, "builtin", name)
    if is_signed and seat.secret is None:
        return BotSpec(seat.name, "absent", NO_SECRET)
    try:
        address = check_base(seat.spec)
    except UsageError:
        return BotSpec(seat.name, "absent", NO_ADDRESS)
    names = {"match_id": wire_id, "bot_id": seat.bot_id}
    return BotSpec(seat.name, "http", address.rstrip("/"), {**seat.settings, **names})


def slots_of(result: MatchResult, first: int = 0) -> tuple[SlotResult, ...]:
    """Return what came of every slot of the match; `first` had the first seat in this game."""
    number = len(result.ranks)
    return tuple(
        SlotResult(
            result.ranks[seat], result.scores[seat], faults_of(result, seat), stats_of(result, seat)
        )
        for seat in ((slot - first) % number for slot in range(number))
    )


def faults_of(result: MatchResult, slot: int) -> list[dict[str, Any]]:
    """Return the faults of a bot, with what its game tells apart of each.

    With the first ones comes the answer that was at fault: some bots make thousands.
    """
    return [
        fault.to_json()
        | {
            name: text
            for name, text in (
                ("expected", fault.expected),
                ("actual", fault.actual),
                ("answer", fault.answer if number < ANSWERS else ""),
            )
            if text
        }
        for number, fault in enumerate(result.faults_of(slot))
    ]


def stats_of(result: MatchResult, slot: int) -> dict[str, Any]:
    """Return how long a bot took, what its game keeps of it, and what its program has written."""
    figures = result.figures[slot] if result.figures else {}
    output = readable(result.stderr[slot].encode(errors="replace"))[-OUTPUT:]
    return {**latencies(result.seconds[slot]), **figures, **({OUTPUTS: [output]} if output else {})}


def latencies(seconds: tuple[float, ...]) -> Mapping[str, float]:
    """Return how long a bot took for its answers, in milliseconds."""
    if not seconds:
        return {"answers": 0}
    return {
        "answers": len(seconds),
        "median_ms": round(median(seconds) * 1000, 3),
        "most_ms": round(max(seconds) * 1000, 3),
    }
