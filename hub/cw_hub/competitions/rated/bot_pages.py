"""The rated sections of a bot's page: rating, matches and opponents."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple, cast

from flask import Blueprint, Flask, abort, current_app, jsonify, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.league.matchmaking import CRASH_REST, CRASHES
from cw_hub.bots import service as bots_service
from cw_hub.bots import versions
from cw_hub.bots.service import BotView
from cw_hub.competitions import service as competitions_service
from cw_hub.competitions.format import BotPart
from cw_hub.competitions.home import PERIODS
from cw_hub.competitions.rated import bot_standings, standings
from cw_hub.competitions.rated import service as rated_service
from cw_hub.competitions.rated.bot_standings import RankedBot
from cw_hub.competitions.rated.pages import number
from cw_hub.competitions.rated.ratings import change_of_bot
from cw_hub.competitions.rated.service import FORMAT
from cw_hub.matches.listings import yesterday
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages.layout import ago, part_of_page
from cw_hub.pages.request import Remembered, minute, one_reading, resources
from cw_hub.store.database import Reading

routes = Blueprint("rated_bots", __name__)

CAPACITY: Final = 64
"""Number of page parts that a process caches, about 50 kB each."""

TAKES_PART: Final = Markup("The bot takes part in matches.")
RESTS: Final = Markup(" It crashed in three matches in a row and rests until {}.")


def install(app: Flask) -> None:
    """Add a cache of bot parts to an app."""
    app.extensions["rated_parts"] = Remembered[BotPart](CAPACITY)


def part(reading: Reading, bot: BotView, is_public: bool) -> BotPart:
    """Return the rated part of a bot's page.

    The public part is cached per revision of the competition. The owner's part is not, because it
    states whether the bot is playing, which changes between revisions.
    """
    competition = competitions_service.find(reading, FORMAT, bot.game)
    if competition is None:
        return BotPart()
    wanted = wanted_of(reading, bot)
    if not is_public:
        return new_part(reading, competition.id, bot, wanted)
    parts = cast("Remembered[BotPart]", current_app.extensions["rated_parts"])
    key = (bot.id, competition.id, wanted)
    revision = (competition.revision, minute(resources().clock()))
    return parts.find(key, lambda: new_part(reading, competition.id, bot, wanted), revision)


class HistoryRequest(NamedTuple):
    """The selection in the query parameters of the page."""

    page: int
    """Page of the list of opponents."""
    version: int
    """Show only matches of this program version; 0: all."""
    versions: tuple[int, ...]
    """The available versions."""
    lost: bool
    """Whether to list only matches that the bot has lost since yesterday."""


def wanted_of(reading: Reading, bot: BotView) -> HistoryRequest:
    """Return the selection in the query parameters; an unknown version counts as none."""
    is_program = bot.kind == "program"
    its = versions.versions_of(reading, bot.id) if is_program else ()
    numbers = tuple(version.number for version in its)
    version = number("version")
    lost = request.args.get("matches") == "lost"
    return HistoryRequest(
        number("opponents") or 1, version if version in numbers else 0, numbers, lost
    )


def new_part(reading: Reading, competition: int, bot: BotView, wanted: HistoryRequest) -> BotPart:
    """Build the part, with a page of opponents, for the whole bot or for one version."""
    standing = bot_standings.standing(reading, competition, bot.id)
    if standing is None:
        return BotPart()
    page, version = wanted.page, wanted.version
    since = yesterday(resources().clock()) if wanted.lost else None
    played = bot_standings.rated_matches_of(
        reading, shown_kinds(), competition, bot.id, version, since
    )
    first = (page - 1) * standings.PER_PAGE
    met = bot_standings.opponents(reading, competition, bot.id, first, version=version)
    if version:
        standing = bot_standings.of_version(reading, competition, bot.id, version, standing)
    rating = part_of_page(
        "hub/competitions/rated/bot_rating.html",
        bot=bot,
        standing=standing,
        played=played,
        wanted=wanted,
        periods=[(length.days if length else 0, words) for words, length in PERIODS.values()],
    )
    matches = part_of_page(
        "hub/competitions/rated/bot_matches.html",
        bot=bot,
        played=played,
        change_of=change_of_bot,
        opponents=met.rows,
        wanted=wanted,
        part=page,
        parts=-(-met.number // standings.PER_PAGE),
    )
    has_chart = bool(played) or wanted.lost
    head = part_of_page("hub/competitions/rated/bot_head.html") if has_chart else Markup()
    return BotPart(sentence(standing), head, rating, matches)


def sentence(standing: RankedBot) -> Markup:
    """Return a message about how an active bot takes part."""
    if standing.is_playing:
        return TAKES_PART + " It is playing now."
    if standing.last_match_at and standing.crash_streak >= CRASHES:
        until = standing.last_match_at + timedelta(seconds=CRASH_REST)
        if until > resources().clock():
            return TAKES_PART + RESTS.format(ago(until))
    return TAKES_PART


@routes.get("/bot/<name>/ratings")
def ratings(name: str) -> ResponseReturnValue:
    """Return a bot's shown ratings over time as JSON, for the chart of its page."""
    with one_reading() as reading:
        bot = bots_service.find(reading, request.args.get("game") or None, name)
        competition = bot and rated_service.of_game(reading, bot.game)
        if bot is None or not competition:
            abort(404, "There is no such bot.")
        points = bot_standings.history(reading, competition.id, bot.id)
        activations = versions.activations_of(reading, bot.id) if bot.kind == "program" else []
    return jsonify(
        times=[point.at.timestamp() for point in points],
        ratings=[round(point.shown_rating, 1) for point in points],
        versions=[{"at": one.at.timestamp(), "number": one.number} for one in activations],
    )
