"""Converts views to API responses field by field, omitting private data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from flask import url_for

from cw_hub.accounts import audit
from cw_hub.accounts.actor import actor
from cw_hub.accounts.service import Profile
from cw_hub.api import document
from cw_hub.bots.health import Condition, condition_of
from cw_hub.bots.service import BotView
from cw_hub.competitions.format import standing_in
from cw_hub.competitions.maps import FoundMap
from cw_hub.matches.match_types import MatchView, SeatView
from cw_hub.matches.object_links import LASTS, link_to
from cw_hub.pages.request import resources
from cw_hub.site.api.documents import (
    BotCondition,
    BotFacts,
    BotRow,
    Change,
    Fault,
    LastMatch,
    Link,
    MapFacts,
    MatchFacts,
    OwnBotFacts,
    OwnSeat,
    Seat,
    Step,
    UserFacts,
)
from cw_hub.site.formats import site_formats
from cw_hub.store.database import Reading

WITH_PUBLIC_REASON: Final = ("done", "void")
"""States whose reason is public; in other states it may describe failures of the site itself."""


def bot_row(bot: BotView) -> BotRow:
    """Return a bot's public data."""
    return document(BotRow, bot, owner=bot.owner or None, registered_at=bot.created_at)


def bot_facts(reading: Reading, bot: BotView) -> BotFacts:
    """Return a bot with its standing; includes private data for its owner and admins."""
    return document(
        BotFacts,
        bot_row(bot),
        standing=standing_in(site_formats(), reading, bot),
        own=own_bot_facts(reading, bot) if actor().sees(bot.user_id) else None,
    )


def own_bot_facts(reading: Reading, bot: BotView) -> OwnBotFacts:
    """Return the data of a bot that only its owner and admins see."""
    acts = audit.history(reading, f"bot:{bot.bot_id}")
    history = [document(Change, act) for act in acts]
    return document(
        OwnBotFacts,
        bot,
        checked_again_at=bot.check_due_at,
        condition=bot_condition(condition_of(reading, bot.id)),
        history=history,
    )


def bot_condition(condition: Condition) -> BotCondition:
    """Return the condition of a bot."""
    matches = [
        LastMatch(match_id=match.match_id, at=match.at, fault=match.first or None)
        for match in condition.matches
    ]
    failed = condition.failed and condition.failed["step"]
    return document(BotCondition, condition, failed=failed, matches=matches)


def step(entry: Mapping[str, Any]) -> Step:
    """Return a step of a check."""
    return Step(
        step=entry["step"],
        ok=entry["ok"],
        problem=entry.get("problem"),
        fix=entry.get("fix"),
        is_warning=bool(entry.get("warning")),
    )


def match_facts(match: MatchView) -> MatchFacts:
    """Return a match with its seats."""
    return document(
        MatchFacts,
        match,
        kind=match.kind.name,
        reason=match.reason if match.state in WITH_PUBLIC_REASON else None,
        planned_at=match.at,
        has_replay=match.replay_key is not None,
        seats=[seat(view, is_hidden=match.is_hidden) for view in match.seats],
    )


def seat(view: SeatView, *, is_hidden: bool) -> Seat:
    """Return a seat; includes private data for its owner and admins."""
    return document(
        Seat,
        view,
        slot=None if is_hidden else view.slot,
        faults=len(view.faults),
        rating_before=view.before and view.before.shown_rating,
        rating_after=view.after and view.after.shown_rating,
        own=own_seat(view) if actor().sees(view.user_id) else None,
    )


def own_seat(view: SeatView) -> OwnSeat:
    """Return a bot's response times and faults."""
    return OwnSeat(
        answers=view.stats.get("answers", 0),
        median_ms=view.stats.get("median_ms"),
        most_ms=view.stats.get("most_ms"),
        faults=[fault(entry) for entry in view.faults],
    )


def fault(entry: Mapping[str, Any]) -> Fault:
    """Return a fault of a bot; daily games store faults with different keys."""
    return Fault(
        turn=entry["turn"] if "turn" in entry else entry.get("round"),
        kind=entry["kind"],
        detail=entry.get("detail") or entry.get("text", ""),
    )


def user_facts(profile: Profile, bots: Iterable[BotView]) -> UserFacts:
    """Return a user with their bots."""
    return document(
        UserFacts,
        profile,
        picture=picture_of(profile.avatar),
        bots=[bot_row(bot) for bot in bots],
    )


def map_facts(stored: FoundMap) -> MapFacts:
    """Return a map with a link to its file."""
    return document(MapFacts, stored, facts=dict(stored.facts), file=link(stored.key))


def link(key: str) -> Link:
    """Return a public link that is valid for an hour; create it only for users with access."""
    address = link_to(key)
    if address.startswith("/"):
        address = f"{resources().settings.address}{address}"
    return Link(url=address, expires_at=resources().clock() + LASTS)


def picture_of(digest: str | None) -> str | None:
    """Return the URL of an avatar by its SHA-256."""
    address = resources().settings.address
    return None if digest is None else f"{address}{url_for('profile.picture', digest=digest)}"
