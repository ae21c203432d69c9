"""The bots of a player: their list, registration, the page of each, and practice matches."""

from __future__ import annotations

import socket
from contextlib import suppress
from ipaddress import ip_network
from typing import Final
from urllib.parse import urlsplit

from flask import Blueprint, abort, make_response, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict
from wtforms import Field, Form, SelectField, StringField, ValidationError

from cw.arena.transports.sockets import Reachable
from cw.errors import CapacityError, UsageError
from cw.games.registry import game_entries, load_protocol, load_strategies
from cw.hub.pages.account import go
from cw.hub.pages.actor import player, players_only, resources
from cw.hub.pages.forms import first_errors, is_filled, needs, stripped
from cw.hub.pages.layout import notice
from cw.hub.services import bots, match_views, matches
from cw.hub.services.bots import NewBot, OwnBot
from cw.hub.settings import HubSettings
from cw.web.game_pages import game_page

routes = Blueprint("bots", __name__)

OF_ITS_OWN: Final = "end-of-codes"
"""The game whose bots are set up on the Settings page."""

NAMED: Final = "The bot name must only contain letters, numbers, and hyphens"
LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
INTERNAL: Final = "The endpoint must not be an internal address"


def is_base_address(url: str) -> bool:
    """Return whether a text is the address of a web service, without query and the like."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    plain = url.isprintable() and " " not in url and "?" not in url and "#" not in url
    return fits and plain and parts.username is None and "@" not in parts.netloc


class BotForm(Form):
    """Register a bot."""

    game = SelectField("Game")
    name = StringField(
        "Bot name",
        [
            needs(is_filled, "Please enter a bot name"),
            needs(
                lambda name: 3 <= len(name) <= 32, "The bot name must be 3 to 32 characters long"
            ),
            needs(lambda name: set(name) <= LETTERS, NAMED),
        ],
    )
    endpoint = StringField(
        "Endpoint URL",
        [
            needs(is_filled, "Please enter the endpoint URL"),
            needs(
                lambda url: len(url) <= 500,
                "The endpoint URL must be at most 500 characters long",
            ),
            needs(is_base_address, "Please enter a valid URL"),
        ],
        filters=[stripped],
    )
    description = StringField(
        "Description",
        [
            needs(
                lambda text: len(text) <= 500,
                "The description must be at most 500 characters long",
            )
        ],
    )

    def validate_endpoint(self, field: Field) -> None:
        """Refuse an address that bots may not have here."""
        settings = resources().settings
        if settings.bots_need_https and not field.data.startswith("https://"):
            raise ValidationError("The endpoint must use https")
        if not may_be_there(urlsplit(field.data).hostname or "", settings):
            raise ValidationError(INTERNAL)


def new_form(values: MultiDict[str, str] | None = None) -> BotForm:
    """Return the form with the games whose bots are web services."""
    form = BotForm(values)
    form.game.choices = [(game, game_page(game).title) for game in games_of_services()]
    form.game.validators = [needs(lambda game: game in games_of_services(), "Please choose a game")]
    form.game.validate_choice = False
    return form


def games_of_services() -> list[str]:
    """Return the games for which one registers a web service."""
    return [
        game
        for game in game_entries()
        if "http" in load_protocol(game).transports and game != OF_ITS_OWN
    ]


def may_be_there(host: str, settings: HubSettings) -> bool:
    """Return whether bots may be at a host; one that does not resolve is left to the check."""
    first, *networks = settings.bots_may_be
    reachable = Reachable(first == "any", tuple(map(ip_network, networks)))
    with suppress(OSError, UnicodeError):
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return all(reachable.includes(str(address[0])) for *_, address in found)
    return True


@routes.get("/bots")
@players_only
def index() -> ResponseReturnValue:
    """List the bots of the player."""
    with resources().database.reading() as reading:
        mine = bots.own_bots(reading, player().user_id)
    return render_template(
        "hub/bots.html", bots=mine, strategies=strategies_of({bot.game for bot in mine})
    )


def strategies_of(games: set[str]) -> dict[str, list[str]]:
    """Return the built-in strategies of some games, the weakest first."""
    return {game: list(load_strategies(game)) for game in games}


@routes.get("/bots/new")
@players_only
def new() -> ResponseReturnValue:
    """Show the form."""
    return render_template("hub/new_bot.html", form=new_form(), errors={})


@routes.post("/bots/new", endpoint="register")
@players_only
def register() -> ResponseReturnValue:
    """Make a bot, show its secret once, and let it be checked."""
    form, held = new_form(request.form), resources()
    form.validate()
    errors = first_errors(form)
    if errors:
        return refused(form, errors)
    said = {name: field.data or "" for name, field in form._fields.items()}
    try:
        with held.database.writing() as writing:
            made = bots.register(writing, held.clock, held.sealer, player().user_id, NewBot(**said))
    except bots.NameTaken as error:
        return refused(form, {"name": str(error)})
    except bots.TooManyBots as error:
        return refused(form, {"": str(error)})
    held.queue.send(bots.CHECK, made.id)
    page = make_response(render_template("hub/secret.html", bot=said, secret=made.secret))
    page.headers["Cache-Control"] = "no-store"
    return page


def refused(form: BotForm, errors: dict[str, str]) -> ResponseReturnValue:
    """Show the form again, with what is wrong."""
    return render_template("hub/new_bot.html", form=form, errors=errors), 422


def find(name: str) -> OwnBot:
    """Return a bot of the player who asks; answer 404 for any other."""
    with resources().database.reading() as reading:
        bot = bots.find(reading, request.values.get("game") or None, name)
    if bot is None or bot.user_id != player().user_id or bot.status == "RETIRED":
        abort(404, "There is no such bot.")
    return bot


def address(bot: OwnBot) -> str:
    """Return the address of the page of a bot."""
    return url_for("bots.page", name=bot.name, game=bot.game)


@routes.get("/bot/<name>")
@players_only
def page(name: str) -> ResponseReturnValue:
    """Show a bot to its owner."""
    bot = find(name)
    with resources().database.reading() as reading:
        played = match_views.latest_of_bot(reading, bot.id)
    return render_template(
        "hub/bot.html",
        bot=bot,
        title=game_page(bot.game).title,
        strategies=strategies_of({bot.game}),
        matches=played,
    )


@routes.post("/bot/<name>/check")
@players_only
def check(name: str) -> ResponseReturnValue:
    """Let a bot be checked."""
    bot = find(name)
    if resources().queue.send(bots.CHECK, bot.id):
        notice("Your bot is being checked.", "plain")
    else:
        notice("Checks cannot be made right now. Please try again soon.", "bad")
    return go(address(bot))


@routes.post("/bot/<name>/test-match")
@players_only
def practise(name: str) -> ResponseReturnValue:
    """Play a practice match against a built-in strategy; lead to its page."""
    bot, held = find(name), resources()
    strategy = request.form.get("opponent", "")
    if strategy not in load_strategies(bot.game):
        abort(422, "Please choose an opponent.")
    try:
        with held.database.writing() as writing:
            match, match_id = bots.practise(writing, held.clock, bot.id, strategy)
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return go(address(bot))
    held.queue.send(matches.PLAY, match, queue="practice")
    return go(url_for("match.page", match_id=match_id))


@routes.post("/bot/<name>/retire")
@players_only
def retire(name: str) -> ResponseReturnValue:
    """Take a bot out for good, if its name was typed."""
    bot, held = find(name), resources()
    if request.form.get("confirm", "") != bot.name:
        notice("Type the name of the bot to retire it.", "bad")
        return go(address(bot))
    with held.database.writing() as writing:
        bots.retire(writing, held.clock, bot.id, player().username)
    notice(f"{bot.name} was retired.")
    return go(url_for("bots.index"))
