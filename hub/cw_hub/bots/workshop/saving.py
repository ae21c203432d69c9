"""Saves drafts as versions, shows the result of their checks, and fills drafts from versions."""

from __future__ import annotations

from typing import Final

import msgspec
from flask import abort, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from cw.errors import CapacityError, ProtocolError, UsageError
from cw.web.workshop.workshop_routes import body, reply
from cw_hub.accounts.access.actor import player, players_only, players_only_json
from cw_hub.accounts.forms import first_errors
from cw_hub.accounts.pages import go, must_confirm
from cw_hub.bots import pages as bots
from cw_hub.bots import verbs, views
from cw_hub.bots.checks import check_requests
from cw_hub.bots.checks.check_requests import CONFIRM
from cw_hub.bots.verbs import NewBot
from cw_hub.bots.versions import answers, uploads
from cw_hub.bots.versions.own_game import OF_ITS_OWN, own_program
from cw_hub.bots.versions.pages import author_of
from cw_hub.bots.versions.verbs import failed_step
from cw_hub.bots.versions.views import Version
from cw_hub.bots.views import BotView
from cw_hub.bots.workshop import drafts
from cw_hub.bots.workshop.pages import own_draft, refuse_unfit, routes
from cw_hub.pages import polls
from cw_hub.pages.parts import notice
from cw_hub.pages.polls import Polled
from cw_hub.pages.queries import whole_number
from cw_hub.pages.request import one_reading, resources
from cw_hub.players import packages

REFUSED: Final = (CapacityError, ProtocolError, UsageError)
"""Errors answered with 422 and their message."""

NO_BOT: Final = "There is no such bot."
OPENED: Final = "Version {} is your draft now."
LEFT: Final = "You already have a draft for this game, which was not changed."


class ToSave(msgspec.Struct, frozen=True):
    """The request of a page to save a version."""

    name: str
    """The name of the bot."""
    note: str


@routes.post("/<game:game>/versions")
@players_only_json
def save_version(game: str) -> ResponseReturnValue:
    """Save the draft as a version of a bot of the player; the bot is created if missing."""
    refuse_unfit(game)
    if must_confirm():
        return reply({"error": CONFIRM}, 403)
    try:
        bot, number = saved(game, body(ToSave))
    except REFUSED as error:
        return reply({"error": str(error)}, 422)
    check_requests.send(bot.id, is_program=True)
    state = url_for("workshop.version_state", game=game, name=bot.name, number=number)
    return reply({"number": number, "bot": bots.address(bot), "state": state}, 201)


def saved(game: str, sent: ToSave) -> tuple[BotView, int]:
    """Save the draft; return the bot, and the number of its version.

    Raises UsageError if it is not valid as a version, and CapacityError if there are too many.
    """
    with one_reading() as reading:
        draft = drafts.files(reading, own_draft(game))
    note = uploads.line_of(sent.note)
    zipped = packages.pack({each.name: each.text.encode() for each in draft})
    package = uploads.packed("draft.zip", zipped, game)
    bot = bot_named(game, sent.name)
    return bot, uploads.save(resources(), bot.id, bot.bot_id, package, note)


def bot_named(game: str, name: str) -> BotView:
    """Return a program of the player, registered if there is none with that name.

    Raises UsageError if the name is not available, or if the bot is not a program.
    """
    bot = bot_of_player() if game == OF_ITS_OWN else own_bot(game, name) or registered(game, name)
    if bot is None or bot.kind != "program":
        raise verbs.NameTaken(f"{name} is not one of your programs: choose another name")
    return bot


def bot_of_player() -> BotView | None:
    """Return the player's only bot of the game with one bot each, turned into a program."""
    hub, user = resources(), player()
    with hub.database.writing() as writing:
        own_program(writing, hub.clock, hub.sealer, user.user_id, user.username)
    return own_bot(OF_ITS_OWN, user.username)


def registered(game: str, name: str) -> BotView | None:
    """Register a program of the player; raise UsageError if its name is invalid."""
    form = bots.new_program_form(MultiDict({"game": game, "name": name}))
    form.validate()
    if wrong := first_errors(form):
        raise UsageError(next(iter(wrong.values())))
    bots.add(NewBot(game, name, ""), is_program=True)
    return own_bot(game, name)


def own_bot(game: str, name: str) -> BotView | None:
    """Return a bot of the player by name, or None."""
    with resources().database.reading() as reading:
        mine = views.bots_of_user(reading, player().user_id)
    named = (bot for bot in mine if bot.game == game and bot.name.lower() == name.lower())
    return next(named, None)


@routes.get("/<game:game>/versions/<name>/<int:number>")
@players_only_json
def version_state(game: str, name: str, number: int) -> ResponseReturnValue:
    """Return the state of a version's check; 304 if unchanged."""
    subject = f"version {game} {name} {number}"
    return polls.answer(subject, lambda: polled(find_version(game, name, number)))


def find_version(game: str, name: str, number: int | None) -> Version:
    """Return a version of a program of the player; answer 404 for any other."""
    bot = own_bot(game, name) or abort(404, NO_BOT)
    return answers.find(author_of(bot), number)


def polled(version: Version) -> Polled:
    """Return what a page polls while a version is checked."""
    state = {"state": version.state, "failed": failed_step(version.checks or ())}
    return Polled(f"{version.sha256[:16]}-{version.state}", state, is_public=False)


@routes.post("/<game:game>/open")
@players_only
def open_version(game: str) -> ResponseReturnValue:
    """Fill the draft from a version of a program of the player, unless it has been edited."""
    refuse_unfit(game)
    hub, number = resources(), whole_number(request.form.get("version", ""), least=1)
    bot = own_bot(game, request.form.get("bot", "")) or abort(404, NO_BOT)
    author = author_of(bot)
    version = answers.find(author, number)
    try:
        files = packages.files_of(answers.data_of(author, version))
        with hub.database.writing() as writing:
            is_filled = drafts.fill(writing, hub.clock, own_draft(game), files)
    except UsageError as error:
        notice(str(error), "bad")
        return go(bots.address(bot))
    if is_filled:
        notice(OPENED.format(number))
    else:
        notice(LEFT, "bad")
    return go(url_for("workshop.page", game=game))
