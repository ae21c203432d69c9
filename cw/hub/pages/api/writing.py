"""What programs do by the API: the verbs of the pages of bots, and those of admins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from flask import abort
from msgspec import structs
from werkzeug.datastructures import MultiDict
from wtforms import Form

from cw.errors import UsageError
from cw.games.registry import load_strategies
from cw.hub.pages.actor import actor, one_reading, player, resources
from cw.hub.pages.api import facts
from cw.hub.pages.api.documents import (
    BotChange,
    BotFacts,
    BotWithSecret,
    NewBot,
    Planned,
    Retirement,
    Suspension,
    TestMatch,
)
from cw.hub.pages.api.operations import Routes
from cw.hub.pages.api.problems import Invalid
from cw.hub.pages.api.reading import NO_BOT, find_bot
from cw.hub.pages.bots import CONFIRM, OF_ITS_OWN, EditForm, must_confirm, new_form
from cw.hub.pages.forms import first_errors
from cw.hub.services import bots, match_views, matches
from cw.hub.services.bots import OwnBot

routes: Final = Routes()

NOT_YOURS: Final = "This is not your bot."
ON_ITS_PAGE: Final = "Bots of End of Codes are set up on their page, /bots/end-of-codes."
NO_OPPONENT: Final = "There is no such strategy; there are: {names}."
OTHER_NAME: Final = "Say the name of the bot, {name}, to retire it."
NO_CHECKS: Final = "Checks cannot be made right now. Please try again soon."


def find_own(bot_id: str) -> OwnBot:
    """Return a bot of the one who asks; answer 403 for others."""
    found = find_bot(bot_id)
    if not actor().is_user(found.user_id):
        abort(403, NOT_YOURS)
    if found.game == OF_ITS_OWN:
        abort(409, ON_ITS_PAGE)
    return found


def find_changeable(bot_id: str) -> OwnBot:
    """Return a bot of the one who asks; answer 409 for one that is suspended or retired."""
    found = find_own(bot_id)
    if found.status not in bots.ASKED:
        abort(409, bots.cannot(found.status))
    return found


@contextmanager
def conflicts() -> Iterator[None]:
    """Answer 409 where a bot, or its owner, cannot do something as they are."""
    try:
        yield
    except (bots.WrongStatus, bots.Busy, bots.TooManyBots) as error:
        abort(409, str(error))


def check_form(form: Form) -> None:
    """Refuse what the form of the page would refuse, with the same words."""
    form.validate()
    errors = first_errors(form)
    if errors:
        raise Invalid(errors)


def as_it_is(bot_id: str) -> BotFacts:
    """Return a bot after something was done."""
    found = find_bot(bot_id)
    with one_reading() as reading:
        return facts.bot_facts(reading, found)


@routes.add("POST", "/bots", scope="bots", code=201)
def register_bot(body: NewBot) -> BotWithSecret:
    """Register a bot, which is checked at once; its secret is told this once."""
    held = resources()
    if must_confirm():
        abort(403, CONFIRM)
    said = structs.asdict(body)
    check_form(new_form(MultiDict(said)))
    new = bots.NewBot(**said | {"endpoint": body.endpoint.strip()})
    try:
        with conflicts(), held.database.writing() as writing:
            made = bots.register(writing, held.clock, held.sealer, player().user_id, new)
    except bots.NameTaken as error:
        raise Invalid({"name": str(error)}) from None
    held.queue.send(bots.CHECK, made.id)
    return BotWithSecret(as_it_is(made.bot_id), made.secret)


@routes.add("PATCH", "/bots/<bot_id>", scope="bots")
def change_bot(bot_id: str, body: BotChange) -> BotFacts:
    """Change endpoint or description of a bot; a new endpoint is checked at once."""
    bot, held = find_changeable(bot_id), resources()
    endpoint = bot.endpoint if body.endpoint is None else body.endpoint
    description = bot.description if body.description is None else body.description
    form = EditForm(MultiDict({"endpoint": endpoint, "description": description}))
    check_form(form)
    with conflicts(), held.database.writing() as writing:
        is_new = bots.edit(writing, held.clock, bot, form.endpoint.data or "", description)
    if is_new:
        held.queue.send(bots.CHECK, bot.id)
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/check", scope="bots", code=202)
def check_bot(bot_id: str) -> BotFacts:
    """Let a bot be checked; its checks say soon what came of it."""
    bot = find_changeable(bot_id)
    if not resources().queue.send(bots.CHECK, bot.id):
        abort(503, NO_CHECKS)
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/rotate", scope="bots")
def rotate_secret(bot_id: str) -> BotWithSecret:
    """Give a bot a new secret, which is told this once; the old one stops working at once."""
    bot, held = find_own(bot_id), resources()
    with conflicts(), held.database.writing() as writing:
        secret = bots.rotate(writing, held.clock, held.sealer, bot)
    held.queue.send(bots.CHECK, bot.id)
    return BotWithSecret(as_it_is(bot_id), secret)


@routes.add("POST", "/bots/<bot_id>/test-match", scope="bots", code=201)
def test_match(bot_id: str, body: TestMatch) -> Planned:
    """Play a practice match of a bot against a built-in strategy."""
    bot, held = find_own(bot_id), resources()
    strategies = list(load_strategies(bot.game))
    if body.opponent not in strategies:
        raise Invalid({"opponent": NO_OPPONENT.format(names=", ".join(strategies))})
    with conflicts(), held.database.writing() as writing:
        planned, match_id = bots.practise(writing, held.clock, bot.id, body.opponent)
    held.queue.send(matches.PLAY, planned, queue="practice")
    with one_reading() as reading:
        found = match_views.find(reading, match_id) or abort(404)
    return Planned(facts.match_facts(found))


@routes.add("POST", "/bots/<bot_id>/retire", scope="bots")
def retire_bot(bot_id: str, body: Retirement) -> BotFacts:
    """Take a bot out for good, whose name is said again to be sure."""
    bot, held = find_own(bot_id), resources()
    if body.name != bot.name:
        raise Invalid({"name": OTHER_NAME.format(name=bot.name)})
    with held.database.writing() as writing:
        done = bots.retire(writing, held.clock, bot.id, player().username)
    if not done:
        abort(409, bots.cannot("RETIRED"))
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/suspend", scope="admin")
def suspend_bot(bot_id: str, body: Suspension) -> BotFacts:
    """Take a bot out until it is restored; its owner reads the reason."""
    held = resources()
    try:
        with conflicts(), held.database.writing() as writing:
            bots.suspend(writing, held.clock, bot_id, body.reason.strip(), player().username)
    except UsageError:
        abort(404, NO_BOT)
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/restore", scope="admin")
def restore_bot(bot_id: str) -> BotFacts:
    """Lift a suspension: the bot is checked again."""
    held = resources()
    try:
        with conflicts(), held.database.writing() as writing:
            bot = bots.restore(writing, held.clock, bot_id, player().username)
    except UsageError:
        abort(404, NO_BOT)
    held.queue.send(bots.CHECK, bot)
    return as_it_is(bot_id)
