"""The bot and game pages, including the sections that each competition format contributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flask import Flask, abort, render_template, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.web.games import game_page
from cw_hub.accounts import audit
from cw_hub.accounts.actor import actor, player, players_only
from cw_hub.bots import pages as bots_pages
from cw_hub.bots import service as bots_service
from cw_hub.bots import version_pages
from cw_hub.bots.health import Condition, condition_of, conditions
from cw_hub.bots.pages import offered_games
from cw_hub.bots.service import BotView
from cw_hub.competitions.format import BotPart
from cw_hub.competitions.home import tops
from cw_hub.matches import friendly_pages, listings
from cw_hub.matches.listings import PLACES, MatchFilter
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages.layout import ago, part_of_page
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.formats import site_formats

routes: Final = bots_pages.routes
"""The pages here extend the blueprint with a player's bot pages."""

BUILT_IN: Final = Markup("This is the built-in strategy {}.")
FAILING: Final = Markup("The bot does not answer. If this continues, it becomes inactive.")
MISTAKEN: Final = Markup("The bot answers, but its last check failed.")
PASSED: Final = Markup("The bot has passed its check.")
WORDS: Final = {
    "PENDING": Markup("The bot is being checked."),
    "INACTIVE": Markup("{}"),
    "SUSPENDED": Markup("Suspended by the site: {}"),
    "RETIRED": Markup("Retired by its owner."),
}


@routes.get("/bots")
@players_only
def index() -> ResponseReturnValue:
    """List the player's bots and their last matches."""
    user_id = player().user_id
    of = "lost" if request.args.get("of") == "lost" else "mine"
    since = listings.yesterday(resources().clock())
    wanted = MatchFilter(owner=user_id, lost_since=since if of == "lost" else None)
    with one_reading() as reading:
        mine = bots_service.bots_of_user(reading, user_id)
        ratings = bots_pages.competing().ratings(reading, user_id)
        states = conditions(reading, [bot.id for bot in mine])
        listing = listings.listing(reading, shown_kinds(), wanted, listings.LATEST)
    return render_template(
        "hub/bots/bots.html",
        bots=mine,
        ratings=ratings,
        conditions=states,
        listing=listing,
        places=PLACES,
        of=of,
    )


@routes.get("/bot/<name>")
def page(name: str) -> ResponseReturnValue:
    """Show a bot to everyone; its owner and admins also see its checks."""
    who = actor()
    with one_reading() as reading:
        bot = bots_service.find(reading, request.args.get("game") or None, name)
        if bot is None:
            abort(404, "There is no such bot.")
        is_own = who.is_user(bot.user_id)
        is_own_program = is_own and bot.kind == "program"
        is_public = not (is_own or who.is_admin)
        parts = [each.bot_part(reading, bot, is_public) for each in site_formats()]
        condition = Condition(bot.status) if is_public else condition_of(reading, bot.id)
        log = audit.history(reading, f"bot:{bot.bot_id}") if is_own or who.is_admin else []
    return render_template(
        "hub/site/bot.html",
        bot=bot,
        is_own=is_own,
        title=game_page(bot.game).title,
        sentence=sentence(bot, parts, condition),
        parts=parts,
        condition=condition,
        challenge=friendly_pages.challenge_part(bot),
        own_practice=friendly_pages.practice_part(bot) if is_own else "",
        own_challenges=friendly_pages.own_challenges_part(bot) if is_own else "",
        versions=version_pages.part(bot) if is_own_program else "",
        comparisons=friendly_pages.comparisons_part(bot) if is_own_program else "",
        log=log,
    )


def sentence(bot: BotView, parts: Sequence[BotPart], condition: Condition) -> Markup:
    """Return the status text of a bot, including what happens next."""
    if condition.word == "failing":
        return FAILING if condition.is_silent else MISTAKEN
    if bot.status == "ACTIVE":
        alone = (BUILT_IN if bot.kind == "builtin" else PASSED).format(bot.endpoint)
        return Markup(" ").join(part.sentence for part in parts if part.sentence) or alone
    if bot.status == "INACTIVE" and bot.check_due_at:
        words = Markup("{}. It is checked again {}.")
        return words.format(bot.reason.removesuffix("."), ago(bot.check_due_at))
    return WORDS[bot.status].format(bot.reason)


ROWS: Final = 5
"""Number of matches in each list."""


def install(app: Flask) -> None:
    """Add the hub's section to the game pages."""
    app.extensions["game_part"] = game_part


def game_part(game: str) -> Markup:
    """Return a game's competitions, its current and best matches, and its kits."""
    month = f"{resources().clock():%Y-%m}"
    with one_reading() as reading:
        competitions = tops(reading, site_formats(), game)
        running = listings.listing(
            reading, shown_kinds(), MatchFilter(game, state="in_progress"), rows=ROWS
        )
        best = listings.listing(reading, shown_kinds(), MatchFilter(game, best=month), rows=ROWS)
    return part_of_page(
        "hub/site/game.html",
        game=game,
        tops=competitions,
        running=running.matches,
        best=best.matches,
        month=month,
        is_offered=game in offered_games(),
    )
