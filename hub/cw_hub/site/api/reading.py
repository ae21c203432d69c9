"""API operations that read data: bots, matches, users, maps, competitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flask import abort

from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.actor import actor, player
from cw_hub.api import List, OfBotQuery, Routes, document, list_of
from cw_hub.bots import service as bots_service
from cw_hub.bots.service import BotView
from cw_hub.competitions import maps
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.service import CompetitionFacts, dates_of_all
from cw_hub.matches import listings, lookup, results
from cw_hub.matches import pages as matches_pages
from cw_hub.matches.listings import BotChoice, MatchChoice, PageRequest, cut_by_place
from cw_hub.matches.pages import shown_kinds
from cw_hub.matches.stored_replays import own_key
from cw_hub.operation import scheduler
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.api import facts
from cw_hub.site.api.documents import (
    BotFacts,
    BotRow,
    BotsQuery,
    CompetitionRow,
    CompetitionsQuery,
    Link,
    MapFacts,
    MatchesQuery,
    MatchFacts,
    Me,
    Status,
    Step,
    UserFacts,
)
from cw_hub.store.database import Reading

routes: Final = Routes()

NO_BOT: Final = "There is no such bot."
NO_USER: Final = "There is no such user."
NO_MAP: Final = "There is no such map."
NOT_YOURS: Final = "This is for the owner of the bot, with a token that has the scope read."


def find_bot(bot_id: str) -> BotView:
    """Return a bot; abort with 404 if there is none."""
    with one_reading() as reading:
        return bots_service.find_by_id(reading, bot_id) or abort(404, NO_BOT)


@routes.add("GET", "/bots")
def list_bots(query: BotsQuery) -> List[BotRow]:
    """Return all bots, the newest first."""
    choice = BotChoice(query.game, query.owner, query.status)
    with one_reading() as reading:
        part = listings.bots_of_people(reading, choice, PageRequest(query.limit, query.after))
    return list_of(part, facts.bot_row)


@routes.add("GET", "/bots/<bot_id>")
def bot(bot_id: str) -> BotFacts:
    """Return a bot and its condition; its owner and admins also get its endpoint and history."""
    view = find_bot(bot_id)
    with one_reading() as reading:
        return facts.bot_facts(reading, view)


@routes.add("GET", "/bots/<bot_id>/matches")
def bot_matches(bot_id: str, query: OfBotQuery) -> List[MatchFacts]:
    """Return the matches of a bot, the latest first; its owner and admins also get practice."""
    bot, cut = find_bot(bot_id), PageRequest(query.limit, query.after)
    sees = actor().sees(bot.user_id)
    with one_reading() as reading:
        part = listings.matches_of_bot(reading, shown_kinds(), bot.id, cut, with_private=sees)
    return list_of(part, facts.match_facts)


@routes.add("GET", "/bots/<bot_id>/checks", is_owners=True)
def bot_checks(bot_id: str) -> List[Step]:
    """Return the steps of the last check of a bot, for its owner and admins alone."""
    bot = find_bot(bot_id)
    if not actor().sees(bot.user_id):
        abort(403, NOT_YOURS)
    return List(items=[facts.step(entry) for entry in bot.checks], next=None)


@routes.add("GET", "/matches")
def list_matches(query: MatchesQuery) -> List[MatchFacts]:
    """Return all public matches, the latest first."""
    choice = MatchChoice(query.game, query.players, query.state)
    with one_reading() as reading:
        part = listings.public_matches(
            reading, shown_kinds(), choice, PageRequest(query.limit, query.after)
        )
    return list_of(part, facts.match_facts)


@routes.add("GET", "/matches/<match_id>")
def match(match_id: str) -> MatchFacts:
    """Return a match; owners see the response times and faults of their bots."""
    view = matches_pages.find(match_id, whole=True)
    with one_reading() as reading:
        (view,) = lookup.with_ratings(reading, [view])
    return facts.match_facts(view)


@routes.add("GET", "/matches/<match_id>/replay")
def match_replay(match_id: str) -> Link:
    """Return a link, valid for an hour, to the replay of a match in the format of its game."""
    view = matches_pages.find(match_id)
    if view.replay_key is None:
        abort(404, matches_pages.sentence(view))
    return facts.link(own_key(view.replay_key))


@routes.add("GET", "/users/<username>")
def user(username: str) -> UserFacts:
    """Return a user with their bots, the newest first."""
    with one_reading() as reading:
        profile = accounts_service.find_profile(reading, username) or abort(404, NO_USER)
        choice = BotChoice(owner=profile.username)
        own_bots = listings.bots_of_people(reading, choice, PageRequest(listings.MOST)).items
    return facts.user_facts(profile, own_bots)


@routes.add("GET", "/maps/<map_id>")
def game_map(map_id: str) -> MapFacts:
    """Return a map used in matches."""
    with one_reading() as reading:
        stored = maps.find(reading, map_id) or abort(404, NO_MAP)
    return facts.map_facts(stored)


@routes.add("GET", "/competitions")
def list_competitions(query: CompetitionsQuery) -> List[CompetitionRow]:
    """Return the competitions of all formats except drafts, by format and slug."""
    with one_reading() as reading:
        wanted = [
            facts
            for facts in shown_competitions(reading)
            if query.game in ("", facts.game)
            and query.format in ("", facts.format)
            and query.state in ("", facts.state)
        ]
        part = cut_by_place(wanted, PageRequest(query.limit, query.after))
        return List(items=competition_rows(reading, part.items), next=part.next)


def shown_competitions(reading: Reading) -> list[CompetitionFacts]:
    """Return the public competitions, that is all except drafts."""
    return [facts for facts in competitions_service.everything(reading) if facts.state != "draft"]


def competition_rows(reading: Reading, rows: Sequence[CompetitionFacts]) -> list[CompetitionRow]:
    """Return competitions as API responses, with their dates."""
    dates = dates_of_all(reading, [facts.id for facts in rows])
    return [
        document(
            CompetitionRow, facts, starts_at=dates[facts.id].starts, ends_at=dates[facts.id].ends
        )
        for facts in rows
    ]


@routes.add("GET", "/status")
def status() -> Status:
    """Return the status of the site: its competitions, and the matches waiting and in progress."""
    clock = resources().clock
    with one_reading() as reading:
        rows = competition_rows(reading, shown_competitions(reading))
        counts = results.open_counts(reading)
        workers = scheduler.live_workers(reading)
    return Status(
        time=clock(),
        competitions=rows,
        queued=counts.get("queued", 0) + counts.get("interrupted", 0),
        in_progress=counts.get("in_progress", 0),
        workers=workers,
    )


@routes.add("GET", "/me", needs_token=True)
def me() -> Me:
    """Return the owner of this token, and its scopes."""
    holder = player()
    scopes = sorted(holder.scopes or ())
    return document(Me, holder, scopes=scopes)
