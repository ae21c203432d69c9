"""What the API answers: leaderboard, bots, matches, people, maps."""

from __future__ import annotations

from typing import Final

from flask import abort

from cw.hub.pages import match as match_pages
from cw.hub.pages.actor import actor, one_reading, player, resources
from cw.hub.pages.api import facts
from cw.hub.pages.api.documents import (
    BotFacts,
    BotRow,
    BotsQuery,
    CompetitionRow,
    LeaderboardQuery,
    LeaderboardRow,
    Link,
    List,
    MapFacts,
    MatchesQuery,
    MatchFacts,
    Me,
    OfBotQuery,
    OpponentRow,
    PlacesQuery,
    RatingPoint,
    Status,
    Step,
    UserFacts,
)
from cw.hub.pages.api.operations import Routes
from cw.hub.pages.leaderboard import board_of
from cw.hub.services import (
    bots,
    competitions,
    leaderboard,
    listings,
    maps,
    match_views,
    matches,
    people,
    rated,
    upkeep,
)
from cw.hub.services.bots import OwnBot
from cw.hub.services.leaderboard import PER_PAGE, Wanted
from cw.hub.services.listings import BotChoice, Cut, MatchChoice

routes: Final = Routes()

NO_BOT: Final = "There is no such bot."
NO_USER: Final = "There is no such user."
NO_MAP: Final = "There is no such map."
NO_COMPETITION: Final = "There is no such rated competition."
NOT_RATED: Final = "There is no rated competition of this bot's game."
NOT_YOURS: Final = "This is for the owner of the bot, with a token that has the scope read."


@routes.add("GET", "/leaderboard")
def leaderboard_rows(query: LeaderboardQuery) -> List[LeaderboardRow]:
    """Return the bots of a rated competition, the best first."""
    place = int(query.after or 0)
    wanted = Wanted(query.players, query.range, query.q, query.sort, place // PER_PAGE + 1)
    with one_reading() as reading:
        found = rated.competitions(reading)
        asked = query.game or (found[0].slug if found else "")
        competition = next((one for one in found if one.slug == asked), None)
        if competition is None:
            abort(404, NO_COMPETITION)
        board = board_of(reading, competitions.facts_of(competition), wanted)
    if board.page < wanted.page:
        return List([], None)
    first, is_last = (board.page - 1) * PER_PAGE, board.page == board.pages
    part = listings.cut_by_place(board.rows, Cut(query.limit, query.after), first, is_last=is_last)
    return facts.list_of(part, leaderboard_row)


def leaderboard_row(row: leaderboard.Row) -> LeaderboardRow:
    """Return a row of the leaderboard."""
    return LeaderboardRow(
        row.rank,
        row.bot_id,
        row.name,
        row.game,
        row.owner,
        row.description,
        row.status,
        row.shown,
        row.mu,
        row.phi,
        row.games,
        row.wins,
        row.active_at,
    )


def find_bot(bot_id: str) -> OwnBot:
    """Return a bot; answer 404 if there is none."""
    with one_reading() as reading:
        return bots.find_by_id(reading, bot_id) or abort(404, NO_BOT)


@routes.add("GET", "/bots")
def list_bots(query: BotsQuery) -> List[BotRow]:
    """Return all bots, the newest first."""
    choice = BotChoice(query.game, query.owner, query.status)
    with one_reading() as reading:
        part = listings.bots_of_people(reading, choice, Cut(query.limit, query.after))
    return facts.list_of(part, facts.bot_row)


@routes.add("GET", "/bots/<bot_id>")
def bot(bot_id: str) -> BotFacts:
    """Return a bot and how it stands; to owner and admins its endpoint and history too."""
    found = find_bot(bot_id)
    with one_reading() as reading:
        return facts.bot_facts(reading, found)


@routes.add("GET", "/bots/<bot_id>/ratings")
def bot_ratings(bot_id: str, query: OfBotQuery) -> List[RatingPoint]:
    """Return the rating of a bot after each of its rated matches, the latest first."""
    found = find_bot(bot_id)
    with one_reading() as reading:
        competition = rated.of_game(reading, found.game) or abort(404, NOT_RATED)
        cut = Cut(query.limit, query.after)
        part = listings.ratings_of_bot(reading, competition.id, found.id, cut)
    return facts.list_of(
        part, lambda one: RatingPoint(one.match_id, one.at, one.shown, one.mu, one.phi)
    )


@routes.add("GET", "/bots/<bot_id>/opponents")
def bot_opponents(bot_id: str, query: PlacesQuery) -> List[OpponentRow]:
    """Return whom a bot has met in rated matches, most often met first."""
    found, first = find_bot(bot_id), int(query.after or 0)
    with one_reading() as reading:
        competition = rated.of_game(reading, found.game) or abort(404, NOT_RATED)
        met = leaderboard.opponents(reading, competition.id, found.id, first, query.limit)
    is_last = first + query.limit >= met.number
    cut = Cut(query.limit, query.after)
    part = listings.cut_by_place(met.rows, cut, first, is_last=is_last)
    return facts.list_of(
        part,
        lambda one: OpponentRow(
            one.bot_id, one.name, one.games, one.won, one.drawn, one.lost, one.met_at
        ),
    )


@routes.add("GET", "/bots/<bot_id>/matches")
def bot_matches(bot_id: str, query: OfBotQuery) -> List[MatchFacts]:
    """Return the matches of a bot, the latest first; to owner and admins practice too."""
    found, cut = find_bot(bot_id), Cut(query.limit, query.after)
    sees = actor().sees(found.user_id)
    with one_reading() as reading:
        part = listings.matches_of_bot(reading, found.id, cut, with_practice=sees)
    return facts.list_of(part, facts.match_facts)


@routes.add("GET", "/bots/<bot_id>/checks", is_owners=True)
def bot_checks(bot_id: str) -> List[Step]:
    """Return the steps of the last check of a bot, for its owner and admins alone."""
    found = find_bot(bot_id)
    if not actor().sees(found.user_id):
        abort(403, NOT_YOURS)
    return List([facts.step(said) for said in found.checks], None)


@routes.add("GET", "/matches")
def list_matches(query: MatchesQuery) -> List[MatchFacts]:
    """Return all matches that everybody may see, the latest first."""
    choice = MatchChoice(query.game, query.players, query.state)
    with one_reading() as reading:
        part = listings.public_matches(reading, choice, Cut(query.limit, query.after))
    return facts.list_of(part, facts.match_facts)


@routes.add("GET", "/matches/<match_id>")
def match(match_id: str) -> MatchFacts:
    """Return a match; owners see how fast their bots were and what they did wrong."""
    found = match_pages.find(match_id, whole=True)
    with one_reading() as reading:
        found = match_views.with_ratings(reading, found)
    return facts.match_facts(found)


@routes.add("GET", "/matches/<match_id>/replay")
def match_replay(match_id: str) -> Link:
    """Return a link to the replay of a match, in the format of its game; it lasts for an hour."""
    found = match_pages.find(match_id)
    if found.replay_key is None:
        abort(404, match_pages.sentence(found))
    return facts.link(found.replay_key)


@routes.add("GET", "/users/<username>")
def user(username: str) -> UserFacts:
    """Return a user, with the bots; the newest first."""
    with one_reading() as reading:
        profile = people.find_profile(reading, username) or abort(404, NO_USER)
        choice = BotChoice(owner=profile.username)
        own = listings.bots_of_people(reading, choice, Cut(listings.MOST)).items
    return UserFacts(
        profile.username,
        profile.display_name,
        profile.country,
        facts.picture_of(profile.avatar),
        [facts.bot_row(one) for one in own],
    )


@routes.add("GET", "/maps/<map_id>")
def game_map(map_id: str) -> MapFacts:
    """Return a map that matches are played on."""
    with one_reading() as reading:
        found = maps.find(reading, map_id) or abort(404, NO_MAP)
    return MapFacts(
        found.map_id,
        found.game,
        found.players,
        found.rows,
        found.cols,
        found.sha256,
        dict(found.facts),
        facts.link(found.key),
    )


@routes.add("GET", "/status")
def status() -> Status:
    """Return how the site does: its competitions, and what waits and is played."""
    held = resources()
    with one_reading() as reading:
        all_there = competitions.everything(reading)
        waiting = matches.open_counts(reading)
        workers = upkeep.live_workers(reading, held.clock)
    return Status(
        held.clock(),
        [CompetitionRow(one.format, one.slug, one.game, one.title, one.state) for one in all_there],
        waiting.get("queued", 0) + waiting.get("interrupted", 0),
        waiting.get("in_progress", 0),
        workers,
    )


@routes.add("GET", "/me", needs_token=True)
def me() -> Me:
    """Return whose token this is, and what it allows."""
    holder = player()
    scopes = sorted(holder.scopes or ())
    return Me(holder.username, holder.is_admin, scopes, holder.expires_at)
