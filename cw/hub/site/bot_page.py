"""The page of a bot, with its rating and its matches, and the matches it practises in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, cast

from flask import (
    Flask,
    abort,
    current_app,
    jsonify,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.errors import CapacityError, UsageError
from cw.games.registry import load_strategies
from cw.hub.accounts import audit
from cw.hub.accounts.access.actor import actor, players_only
from cw.hub.accounts.pages import go
from cw.hub.bots import asking, check_requests
from cw.hub.bots import views as bot_views
from cw.hub.bots.pages import address, find, routes, strategies_of
from cw.hub.bots.views import BotView
from cw.hub.competitions.daily.graph import PERIODS
from cw.hub.competitions.rated import bot_standings
from cw.hub.competitions.rated import standings as leaderboard
from cw.hub.competitions.rated import verbs as rated
from cw.hub.competitions.rated.pages import number
from cw.hub.matches import listings, practice, sending
from cw.hub.matches.pages import shown_kinds
from cw.hub.pages.parts import ago, notice, part_of_page
from cw.hub.pages.remembered import Remembered, minute
from cw.hub.pages.request import one_reading, resources
from cw.hub.store.database import Reading
from cw.league.matchmaking import CRASH_REST, CRASHES
from cw.web.games.game_pages import game_page

MOST_KEPT: Final = 64
"""Bots whose rated part a process remembers, of about 50 kB each."""


NOTHING: Final = Markup()
BUILT_IN: Final = Markup("This is the built-in strategy {}.")
PASSED: Final = Markup("The bot has passed its check.")
RESTS: Final = Markup(" It crashed in three matches in a row and rests until {}.")
WORDS: Final = {
    "PENDING": Markup("The bot is being checked."),
    "INACTIVE": Markup("{}"),
    "SUSPENDED": Markup("Suspended by the site: {}"),
    "RETIRED": Markup("Retired by its owner."),
}


def install(app: Flask) -> None:
    """Let an app remember what it shows of bots."""
    app.extensions["rated_parts"] = Remembered[RatedPart](MOST_KEPT)


@routes.get("/bot/<name>")
def page(name: str) -> ResponseReturnValue:
    """Show a bot to everybody; to its owner and admins also how its checks went."""
    who = actor()
    with one_reading() as reading:
        bot = bot_views.find(reading, request.args.get("game") or None, name)
        if bot is None:
            abort(404, "There is no such bot.")
        is_own = who.is_user(bot.user_id)
        part = rated_part(reading, bot, is_public=not (is_own or who.is_admin))
        practice = listings.practice_of(reading, shown_kinds(), bot.id) if is_own else []
        log = audit.history(reading, f"bot:{bot.bot_id}") if is_own or who.is_admin else []
    return render_template(
        "hub/site/bot.html",
        bot=bot,
        is_own=is_own,
        title=game_page(bot.game).title,
        strategies=strategies_of({bot.game}),
        sentence=sentence(bot, part.standing),
        rating=part.rating,
        matches=part.matches,
        has_played=part.has_played,
        practice=practice,
        log=log,
    )


@dataclass(frozen=True, slots=True)
class RatedPart:
    """What a bot has come to in the rated competition of its game, as HTML for everybody."""

    standing: bot_standings.Standing | None = None
    """None for one that takes no part."""
    has_played: bool = False
    rating: Markup = NOTHING
    matches: Markup = NOTHING


def rated_part(reading: Reading, bot: BotView, *, is_public: bool) -> RatedPart:
    """Return the rated part of the page of a bot.

    For the public it is made once for each revision of the competition. Whether the bot is
    playing now, which its owner is told, changes without one.
    """
    competition = rated.of_game(reading, bot.game)
    if competition is None:
        return RatedPart()
    part = number("opponents") or 1
    if not is_public:
        return new_rated_part(reading, competition.id, bot, part)
    parts = cast("Remembered[RatedPart]", current_app.extensions["rated_parts"])
    key = (bot.id, competition.id, competition.revision, part, minute(resources().clock()))
    return parts.find(key, lambda: new_rated_part(reading, competition.id, bot, part))


def new_rated_part(reading: Reading, competition: int, bot: BotView, part: int) -> RatedPart:
    """Make the rated part of the page of a bot, with a part of those whom it has met."""
    standing = bot_standings.standing(reading, competition, bot.id)
    if standing is None:
        return RatedPart()
    played = listings.rated_matches_of(reading, shown_kinds(), competition, bot.id)
    first = (part - 1) * leaderboard.PER_PAGE
    met = bot_standings.opponents(reading, competition, bot.id, first)
    rating = part_of_page(
        "hub/site/bot_rating.html",
        bot=bot,
        standing=standing,
        played=played,
        periods=[(length.days if length else 0, words) for words, length in PERIODS.values()],
    )
    matches_played = part_of_page(
        "hub/site/bot_matches.html",
        bot=bot,
        played=played,
        opponents=met.rows,
        part=part,
        parts=-(-met.number // leaderboard.PER_PAGE),
    )
    return RatedPart(standing, bool(played), rating, matches_played)


def sentence(bot: BotView, standing: bot_standings.Standing | None) -> Markup:
    """Say how a bot stands, and what comes next."""
    if bot.status == "ACTIVE":
        return active_sentence(bot, standing)
    if bot.status == "INACTIVE" and bot.check_due_at:
        return Markup("{} It is checked again {}.").format(bot.reason, ago(bot.check_due_at))
    return WORDS[bot.status].format(bot.reason)


def active_sentence(bot: BotView, standing: bot_standings.Standing | None) -> Markup:
    """Say what a bot does that takes part."""
    if standing is None:
        return (BUILT_IN if bot.kind == "builtin" else PASSED).format(bot.endpoint)
    sentence = Markup("The bot takes part in matches.")
    if standing.is_playing:
        return sentence + " It is playing now."
    if standing.last_match_at and standing.crash_streak >= CRASHES:
        until = standing.last_match_at + timedelta(seconds=CRASH_REST)
        if until > resources().clock():
            return sentence + RESTS.format(ago(until))
    return sentence


@routes.get("/bot/<name>/ratings")
def ratings(name: str) -> ResponseReturnValue:
    """Return the shown ratings of a bot over time, for the chart of its page."""
    with one_reading() as reading:
        bot = bot_views.find(reading, request.args.get("game") or None, name)
        competition = bot and rated.of_game(reading, bot.game)
        if bot is None or not competition:
            abort(404, "There is no such bot.")
        points = bot_standings.history(reading, competition.id, bot.id)
    return jsonify(
        times=[point.at.timestamp() for point in points],
        ratings=[round(point.shown, 1) for point in points],
    )


@routes.post("/bot/<name>/test-match")
@players_only
def practise(name: str) -> ResponseReturnValue:
    """Play a practice match against a built-in strategy; lead to its page."""
    bot, hub = find(name), resources()
    strategy = request.form.get("opponent", "")
    if strategy not in load_strategies(bot.game):
        abort(422, "Please choose an opponent.")
    if bot.status != "ACTIVE":
        check_requests.claim(bot.endpoint, asking.PRACTICE)
    try:
        with hub.database.writing() as writing:
            match, match_id = practice.practise(writing, hub.clock, bot.id, strategy)
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return go(address(bot))
    hub.queue.send(sending.PLAY, match, queue=practice.PRACTICE.name)
    return go(url_for("match.page", match_id=match_id))
