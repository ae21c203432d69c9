"""The players of a daily game: eligible bots, ready bots, and their seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from cw.errors import UsageError
from cw.games.registry import load_game
from cw.games.rules import Json
from cw_hub.accounts.people import HOUSE
from cw_hub.bots.seats import ClaimedSeat, claimed_seat, is_version_played
from cw_hub.competitions.daily.reports import report
from cw_hub.matches import claims
from cw_hub.matches.claims import Claim
from cw_hub.store.tables import Bot, BotVersion, Match, MatchParticipant, User

GAME: Final = "end-of-codes"
"""The game whose web services are checked for readiness.

Programs, and the bots of other games, play if they are ACTIVE.
"""

NO_SEAT: Final = "no_seat"
TOO_LARGE: Final = "too many creatures"
SEED_TRIES: Final = 1000


@dataclass(frozen=True, slots=True)
class Entrant:
    """An eligible bot in its present state."""

    bot: int
    user_id: int
    seat: ClaimedSeat
    endpoint: str
    version: int
    """Version of its secret."""
    is_active: bool = True
    """Whether it was ready at its last check."""

    @property
    def is_asked(self) -> bool:
        """Whether it is a web service."""
        return self.seat.spec == self.endpoint


def entrants(session: Session, game: str) -> list[Entrant]:
    """Return the bots eligible for a game, by user id."""
    users_now = (User.locked_at.is_(None), User.deleted_at.is_(None))
    rows = session.execute(
        select(Bot, User.id, User.username, BotVersion)
        .join(User, User.id == Bot.user_id)
        .outerjoin(BotVersion, is_version_played())
        .where(Bot.game == game, *users_now, may_play(game))
        .where(or_(Bot.endpoint != "", BotVersion.id.is_not(None)))
        .order_by(User.id, Bot.id)
    )
    return [entrant_of(bot, user_id, name or "", version) for bot, user_id, name, version in rows]


def may_play(game: str) -> Any:
    """Return the SQL condition for bots eligible for a game.

    In End of Codes a player is a person, whose number identifies the creatures; the site's own
    bots share one number, so they stay out.
    """
    if game == GAME:
        is_asked = Bot.kind != "program"
        is_open = or_(
            Bot.status == "ACTIVE", is_asked & Bot.status.not_in(("RETIRED", "SUSPENDED"))
        )
        return is_open & User.username.is_distinct_from(HOUSE)
    return Bot.status == "ACTIVE"


def entrant_of(bot: Bot, user_id: int, owner: str, version: BotVersion | None = None) -> Entrant:
    """Return a bot as an entrant, with the playing version of its program, if any."""
    seat = claimed_seat(bot, owner=owner, version=version)
    is_active = bot.status == "ACTIVE"
    return Entrant(bot.id, user_id, seat, bot.endpoint, bot.secret_version, is_active)


@dataclass(frozen=True, slots=True)
class Admission:
    """The admitted bots, and the refused ones with the reasons."""

    ready: Sequence[Entrant]
    refused: Sequence[tuple[Entrant, Mapping[str, Json]]]
    """Each with its report."""


def seated(game: str, seed: int, admission: Admission) -> Admission:
    """Return an admission limited to the seats of the game, drawn by the seed."""
    most = load_game(game).rules.seats.stop - 1
    if len(admission.ready) <= most:
        return admission
    lot = set(Random(seed).sample(range(len(admission.ready)), most))
    without = [
        (entrant, no_seat(entrant.user_id))
        for number, entrant in enumerate(admission.ready)
        if number not in lot
    ]
    ready = [entrant for number, entrant in enumerate(admission.ready) if number in lot]
    return Admission(ready, (*admission.refused, *without))


def no_seat(user_id: int) -> dict[str, Json]:
    """Return the report of a bot that got no seat."""
    return report(user_id, 0, None, "", "startup", NO_SEAT)


def admit(session: Session, claim: Claim, admission: Admission) -> Claim | None:
    """Write a game's participants, replacing those of an earlier attempt; return the new claim.

    Returns None, and writes nothing, if the game no longer belongs to this attempt.
    """
    playing = update(Match).where(claims.mine(claim)).values(players=len(admission.ready))
    if not claims.hits(session, playing):
        return None
    session.execute(delete(MatchParticipant).where(MatchParticipant.match_id == claim.id))
    rows: list[tuple[Entrant, list[Mapping[str, Json]]]] = [
        (entrant, []) for entrant in admission.ready
    ]
    rows += [(entrant, [{**why, "gameid": claim.id}]) for entrant, why in admission.refused]
    session.add_all(
        MatchParticipant(
            match_id=claim.id,
            slot=slot,
            bot_id=entrant.bot,
            name=entrant.seat.name,
            faults=faults,
            version=entrant.seat.version,
        )
        for slot, (entrant, faults) in enumerate(rows)
    )
    return claim_with(claim, admission.ready)


def claim_with(claim: Claim, ready: Sequence[Entrant]) -> Claim:
    """Return a claim with its participants; in End of Codes, players and game get the hub's ids."""
    seats = tuple(entrant.seat for entrant in ready)
    if claim.game != GAME:
        return replace(claim, seats=seats)
    players = tuple(entrant.user_id for entrant in ready)
    options = {**claim.options, "gameid": claim.id}
    return replace(claim, seats=seats, players=players, options=options)


def playable(claim: Claim) -> Claim:
    """Return a claim with the first playable seed, starting from its own.

    Drawn options may make a game too large for its limits. Raises UsageError if none of many
    seeds fits.
    """
    if claim.game != GAME:
        return claim
    rules = load_game(claim.game).rules
    named = [
        {"userid": player, "username": seat.name}
        for player, seat in zip(claim.players, claim.seats, strict=True)
    ]
    for seed in range(claim.seed, claim.seed + SEED_TRIES):
        try:
            rules.new(named, seed, **claim.options)
        except UsageError as error:
            if TOO_LARGE not in str(error):
                raise
        else:
            return replace(claim, seed=seed)
    raise UsageError("the game would have too many creatures with any seed")
