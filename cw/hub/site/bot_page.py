"""The page of a bot, with the parts of the formats, and the matches it practises in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flask import abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from cw.errors import CapacityError, UsageError
from cw.games.registry import load_strategies
from cw.hub.accounts import audit
from cw.hub.accounts.access.actor import actor, players_only
from cw.hub.accounts.pages import go
from cw.hub.bots import asking, check_requests
from cw.hub.bots import pages as bots
from cw.hub.bots import views as bot_views
from cw.hub.bots.pages import address, find, strategies_of
from cw.hub.bots.versions import pages as versions
from cw.hub.bots.views import BotView
from cw.hub.competitions.format import BotCard, BotPart
from cw.hub.matches import listings, practice, sending
from cw.hub.matches.pages import shown_kinds
from cw.hub.pages.parts import ago, notice
from cw.hub.pages.request import one_reading, resources
from cw.hub.site.formats import site_formats
from cw.web.games.game_pages import game_page

routes: Final = bots.routes
"""The pages here are of the family of a player's bots."""

BUILT_IN: Final = Markup("This is the built-in strategy {}.")
PASSED: Final = Markup("The bot has passed its check.")
WORDS: Final = {
    "PENDING": Markup("The bot is being checked."),
    "INACTIVE": Markup("{}"),
    "SUSPENDED": Markup("Suspended by the site: {}"),
    "RETIRED": Markup("Retired by its owner."),
}


@routes.get("/bot/<name>")
def page(name: str) -> ResponseReturnValue:
    """Show a bot to everybody; to its owner and admins also how its checks went."""
    who = actor()
    with one_reading() as reading:
        bot = bot_views.find(reading, request.args.get("game") or None, name)
        if bot is None:
            abort(404, "There is no such bot.")
        is_own = who.is_user(bot.user_id)
        is_public = not (is_own or who.is_admin)
        parts = [card.part(reading, bot, is_public) for card in cards()]
        practice = listings.practice_of(reading, shown_kinds(), bot.id) if is_own else []
        log = audit.history(reading, f"bot:{bot.bot_id}") if is_own or who.is_admin else []
    return render_template(
        "hub/site/bot.html",
        bot=bot,
        is_own=is_own,
        title=game_page(bot.game).title,
        strategies=strategies_of({bot.game}),
        sentence=sentence(bot, parts),
        parts=parts,
        practice=practice,
        versions=versions.part(bot) if is_own and bot.kind == "program" else "",
        log=log,
    )


def cards() -> list[BotCard]:
    """Return what the formats of this site show of a bot."""
    return [format_.bot for format_ in site_formats() if format_.bot is not None]


def sentence(bot: BotView, parts: Sequence[BotPart]) -> Markup:
    """Say how a bot stands, and what comes next."""
    if bot.status == "ACTIVE":
        alone = (BUILT_IN if bot.kind == "builtin" else PASSED).format(bot.endpoint)
        return Markup(" ").join(part.sentence for part in parts if part.sentence) or alone
    if bot.status == "INACTIVE" and bot.check_due_at:
        return Markup("{} It is checked again {}.").format(bot.reason, ago(bot.check_due_at))
    return WORDS[bot.status].format(bot.reason)


@routes.post("/bot/<name>/test-match")
@players_only
def practise(name: str) -> ResponseReturnValue:
    """Play a practice match against a built-in strategy; lead to its page."""
    bot, hub = find(name), resources()
    strategy = request.form.get("opponent", "")
    if strategy not in load_strategies(bot.game):
        abort(422, "Please choose an opponent.")
    if bot.status != "ACTIVE":
        check_requests.claim_bot(bot, asking.PRACTICE)
    try:
        with hub.database.writing() as writing:
            match, match_id = practice.practise(writing, hub.clock, bot.id, strategy)
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return go(address(bot))
    sending.send_now(hub, match, practice.PRACTICE.name)
    return go(url_for("match.page", match_id=match_id))
