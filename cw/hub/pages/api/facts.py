"""What the services know, as documents of the API; what is not for all is left out here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from flask import url_for

from cw.hub.pages.actor import actor, resources
from cw.hub.pages.api.documents import (
    BotFacts,
    BotRow,
    BotStanding,
    Change,
    Fault,
    Link,
    List,
    MatchFacts,
    OwnBotFacts,
    OwnSeat,
    Seat,
    Step,
)
from cw.hub.pages.objects import LASTS, link_to
from cw.hub.services import audit, leaderboard, rated
from cw.hub.services.bots import OwnBot
from cw.hub.services.listings import Part
from cw.hub.services.match_views import MatchView, SeatView
from cw.hub.store.database import Reading

TOLD: Final = ("done", "void")
"""States of which everybody is told the reason; others may be faults of ours."""

T = TypeVar("T")
U = TypeVar("U")


def list_of(part: Part[T], document: Callable[[T], U]) -> List[U]:
    """Return a part of a list as a document."""
    return List([document(item) for item in part.items], part.next)


def bot_row(bot: OwnBot) -> BotRow:
    """Return a bot as everybody sees it."""
    return BotRow(
        bot.bot_id,
        bot.game,
        bot.name,
        bot.owner or None,
        bot.kind,
        bot.description,
        bot.status,
        bot.created_at,
    )


def bot_facts(reading: Reading, bot: OwnBot) -> BotFacts:
    """Return a bot with its standing; to its owner and admins all that they may know."""
    competition = rated.of_game(reading, bot.game)
    standing = leaderboard.standing(reading, competition.id, bot.id) if competition else None
    row = bot_row(bot)
    return BotFacts(
        row.bot_id,
        row.game,
        row.name,
        row.owner,
        row.kind,
        row.description,
        row.status,
        row.registered_at,
        None if standing is None else bot_standing(standing),
        own_bot_facts(reading, bot) if actor().sees(bot.user_id) else None,
    )


def bot_standing(standing: leaderboard.Standing) -> BotStanding:
    """Return how a bot stands."""
    return BotStanding(
        standing.rank,
        standing.of,
        standing.shown,
        standing.mu,
        standing.phi,
        standing.games,
        standing.wins,
        standing.draws,
        standing.losses,
        standing.last_match_at,
    )


def own_bot_facts(reading: Reading, bot: OwnBot) -> OwnBotFacts:
    """Return what only owner and admins see of a bot."""
    noted = audit.history(reading, f"bot:{bot.bot_id}")
    return OwnBotFacts(
        bot.endpoint,
        bot.reason,
        bot.checked_at,
        bot.check_due_at,
        [Change(one.at, one.actor, one.verb, one.detail) for one in noted],
    )


def step(said: Mapping[str, Any]) -> Step:
    """Return a step of a check."""
    return Step(
        said["step"],
        said["ok"],
        said.get("problem"),
        said.get("fix"),
        bool(said.get("warning")),
    )


def match_facts(match: MatchView) -> MatchFacts:
    """Return a match with its seats."""
    return MatchFacts(
        match.match_id,
        match.kind,
        match.game,
        match.state,
        match.attempt,
        match.turn,
        match.reason if match.state in TOLD else None,
        match.seed,
        match.map_id,
        match.level,
        match.at,
        match.started_at,
        match.finished_at,
        match.replay_key is not None,
        [seat(one) for one in match.seats],
    )


def seat(one: SeatView) -> Seat:
    """Return who sat at a slot, to its owner and admins with what only they see."""
    return Seat(
        one.slot,
        one.bot_id,
        one.name,
        one.owner,
        one.rank,
        one.score,
        len(one.faults),
        one.before,
        one.after,
        own_seat(one) if actor().sees(one.user_id) else None,
    )


def own_seat(one: SeatView) -> OwnSeat:
    """Return how fast a bot was and what it did wrong."""
    return OwnSeat(
        one.stats.get("answers", 0),
        one.stats.get("median_ms"),
        one.stats.get("most_ms"),
        [fault(said) for said in one.faults],
    )


def fault(said: Mapping[str, Any]) -> Fault:
    """Return what a bot did wrong; a daily game has words of its own for it."""
    turn = said["turn"] if "turn" in said else said.get("round")
    return Fault(turn, said["kind"], said.get("detail") or said.get("text", ""))


def link(key: str) -> Link:
    """Return a link that everybody may follow for an hour; to be made for those who may see it."""
    held = resources()
    address, ends = link_to(key), held.clock() + LASTS
    return Link(f"{held.settings.address}{address}" if address[0] == "/" else address, ends)


def picture_of(digest: str | None) -> str | None:
    """Return the address of a picture, by its SHA-256."""
    address = resources().settings.address
    return None if digest is None else f"{address}{url_for('profile.picture', digest=digest)}"
