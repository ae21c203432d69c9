"""A match in the arena's terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cw.arena.bots import BotSpec
from cw.arena.transports.base_address import check_base
from cw.errors import UsageError
from cw.games.registry import load_protocol
from cw.matches.spec import MatchSpec
from cw_hub.accounts.people import HOUSE
from cw_hub.bots.addresses import isolation_of
from cw_hub.bots.programs import sandbox_of
from cw_hub.bots.seats import ClaimedSeat
from cw_hub.matches.claims import Claim
from cw_hub.operation.settings import HubSettings

NO_BOT: Final = "no bot yet"
NO_ADDRESS: Final = "no server can be at its address"
NO_SECRET: Final = "no secret yet"  # noqa: S105
NO_PROGRAMS: Final[Mapping[str, BotSpec]] = {}


def spec_of(
    claim: Claim, settings: HubSettings, own: Mapping[str, BotSpec] = NO_PROGRAMS
) -> MatchSpec:
    """Return the match spec; `own` are, by name, the bots that run here or were brought."""
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
    """Return the occupant of a slot for the arena; a web service gets its match and its own id.

    If requests are signed, a web service whose team has not fetched a secret is absent. So is one
    with an impossible address, as the match must not fail for the others.
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
    return BotSpec(seat.name, "http", address, {**seat.settings, **names})
