"""Makes the documents of the API from views, by attribute; what is not for all is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from flask import url_for
from msgspec import Struct

from cw.hub.accounts import audit
from cw.hub.accounts.access.actor import actor
from cw.hub.accounts.profiles import Profile
from cw.hub.bots.views import BotView
from cw.hub.competitions.maps import FoundMap
from cw.hub.competitions.rated import bot_standings
from cw.hub.competitions.rated import standings as leaderboard
from cw.hub.competitions.rated import verbs as rated
from cw.hub.matches.listings import Part, RatedPoint
from cw.hub.matches.objects import LASTS, link_to
from cw.hub.matches.views import MatchView, SeatView
from cw.hub.pages.request import resources
from cw.hub.site.api.documents import (
    BotFacts,
    BotRow,
    BotStanding,
    Change,
    Fault,
    LeaderboardRow,
    Link,
    List,
    MapFacts,
    MatchFacts,
    OpponentRow,
    OwnBotFacts,
    OwnSeat,
    RatingPoint,
    Seat,
    Step,
    UserFacts,
)
from cw.hub.store.database import Reading

WITH_PUBLIC_REASON: Final = ("done", "void")
"""States whose reason everybody may read; those of others may be faults of ours."""

D = TypeVar("D", bound=Struct)
T = TypeVar("T")
U = TypeVar("U")


def document(kind: type[D], view: object, /, **others: Any) -> D:
    """Return a document with the attributes of a view; `others` are fields of other names."""
    fields = {
        name: others[name] if name in others else getattr(view, name)
        for name in kind.__struct_fields__
    }
    return kind(**fields)


def list_of(part: Part[T], document_of: Callable[[T], U]) -> List[U]:
    """Return a part of a list as a document."""
    return List(items=[document_of(item) for item in part.items], next=part.next)


def leaderboard_row(row: leaderboard.Row) -> LeaderboardRow:
    """Return a row of the leaderboard."""
    return document(LeaderboardRow, row, rating=row.shown, last_match_at=row.active_at)


def bot_row(bot: BotView) -> BotRow:
    """Return a bot as everybody sees it."""
    return document(BotRow, bot, owner=bot.owner or None, registered_at=bot.created_at)


def bot_facts(reading: Reading, bot: BotView) -> BotFacts:
    """Return a bot with its standing; to its owner and admins all that they may know."""
    competition = rated.of_game(reading, bot.game)
    standing = bot_standings.standing(reading, competition.id, bot.id) if competition else None
    return document(
        BotFacts,
        bot_row(bot),
        standing=standing and bot_standing(standing),
        own=own_bot_facts(reading, bot) if actor().sees(bot.user_id) else None,
    )


def bot_standing(standing: bot_standings.Standing) -> BotStanding:
    """Return how a bot stands."""
    return document(
        BotStanding,
        standing,
        rating=standing.shown,
        won=standing.wins,
        drawn=standing.draws,
        lost=standing.losses,
    )


def own_bot_facts(reading: Reading, bot: BotView) -> OwnBotFacts:
    """Return what only owner and admins see of a bot."""
    acts = audit.history(reading, f"bot:{bot.bot_id}")
    history = [document(Change, act) for act in acts]
    return document(OwnBotFacts, bot, checked_again_at=bot.check_due_at, history=history)


def step(entry: Mapping[str, Any]) -> Step:
    """Return a step of a check."""
    return Step(
        step=entry["step"],
        ok=entry["ok"],
        problem=entry.get("problem"),
        fix=entry.get("fix"),
        is_warning=bool(entry.get("warning")),
    )


def rating_point(point: RatedPoint) -> RatingPoint:
    """Return the rating of a bot after a match."""
    return document(RatingPoint, point, rating=point.shown)


def opponent_row(opponent: bot_standings.Opponent) -> OpponentRow:
    """Return how a bot has fared against another."""
    return document(OpponentRow, opponent, last_met_at=opponent.met_at)


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
    """Return who sat at a slot, to its owner and admins with what only they see."""
    return document(
        Seat,
        view,
        slot=None if is_hidden else view.slot,
        faults=len(view.faults),
        rating_before=view.before,
        rating_after=view.after,
        own=own_seat(view) if actor().sees(view.user_id) else None,
    )


def own_seat(view: SeatView) -> OwnSeat:
    """Return how fast a bot was and what it did wrong."""
    return OwnSeat(
        answers=view.stats.get("answers", 0),
        median_ms=view.stats.get("median_ms"),
        most_ms=view.stats.get("most_ms"),
        faults=[fault(entry) for entry in view.faults],
    )


def fault(entry: Mapping[str, Any]) -> Fault:
    """Return what a bot did wrong; daily games have other keys for it."""
    return Fault(
        turn=entry["turn"] if "turn" in entry else entry.get("round"),
        kind=entry["kind"],
        detail=entry.get("detail") or entry.get("text", ""),
    )


def user_facts(profile: Profile, bots: Iterable[BotView]) -> UserFacts:
    """Return a user, with the bots."""
    return document(
        UserFacts,
        profile,
        picture=picture_of(profile.avatar),
        bots=[bot_row(bot) for bot in bots],
    )


def map_facts(stored: FoundMap) -> MapFacts:
    """Return a map, with a link to its file."""
    return document(MapFacts, stored, facts=dict(stored.facts), file=link(stored.key))


def link(key: str) -> Link:
    """Return a link that everybody may follow for an hour; to be made for those who may see it."""
    address = link_to(key)
    if address.startswith("/"):
        address = f"{resources().settings.address}{address}"
    return Link(url=address, expires_at=resources().clock() + LASTS)


def picture_of(digest: str | None) -> str | None:
    """Return the address of a picture, by its SHA-256."""
    address = resources().settings.address
    return None if digest is None else f"{address}{url_for('profile.picture', digest=digest)}"
