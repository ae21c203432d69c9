"""Writing with the API: the operations of the bot pages, and those of admins."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from flask import abort
from werkzeug.datastructures import MultiDict
from wtforms import Form

from cw.errors import UsageError
from cw.games.registry import load_strategies
from cw_hub.accounts.access.actor import actor, player
from cw_hub.accounts.forms import first_errors
from cw_hub.accounts.pages import must_confirm
from cw_hub.api.operations import Routes
from cw_hub.api.problems import Invalid
from cw_hub.bots import verbs as bots
from cw_hub.bots.checks import check_requests
from cw_hub.bots.checks.check_requests import CONFIRM
from cw_hub.bots.forms import DescriptionForm, EditForm
from cw_hub.bots.pages import add, new_form, new_program_form
from cw_hub.bots.versions import uploads
from cw_hub.bots.versions.own_game import OF_ITS_OWN
from cw_hub.bots.views import BotView
from cw_hub.matches import lookup
from cw_hub.matches.pages import shown_kinds
from cw_hub.pages.limiter import note_done
from cw_hub.pages.request import one_reading, resources
from cw_hub.site.api import facts, versions
from cw_hub.site.api.conflicts import conflicts
from cw_hub.site.api.documents import BotFacts, BotWithSecret, Planned
from cw_hub.site.api.queries import (
    BotChange,
    NewBot,
    ProgramFile,
    Retirement,
    Suspension,
    TestMatch,
)
from cw_hub.site.api.reading import NO_BOT, find_bot
from cw_hub.site.bot_page import begin_practice

routes: Final = Routes()

NOT_YOURS: Final = "This is not your bot."
ON_ITS_PAGE: Final = "Bots of End of Codes are set up on their page, /bots/end-of-codes."
ONE_KIND: Final = "A bot is a web service or a program, not both."
NO_ADDRESS: Final = "The bot is a program, which has no address."
NO_OPPONENT: Final = "There is no such strategy; there are: {names}."
OTHER_NAME: Final = "To retire the bot, confirm with its name, {name}."
NO_CHECKS: Final = "Bots cannot be checked right now. Please try again soon."


def find_own(bot_id: str) -> BotView:
    """Return a bot of the requester; answer 403 to anyone else."""
    bot = find_bot(bot_id)
    if not actor().is_user(bot.user_id):
        abort(403, NOT_YOURS)
    if bot.game == OF_ITS_OWN:
        abort(409, ON_ITS_PAGE)
    return bot


def find_changeable(bot_id: str) -> BotView:
    """Return a bot of the requester; answer 409 if it is suspended or retired."""
    bot = find_own(bot_id)
    if bot.status not in bots.ASKED:
        abort(409, bots.cannot(bot.status))
    return bot


def check_form(form: Form) -> None:
    """Refuse what the page's form would refuse, with the same messages."""
    form.validate()
    errors = first_errors(form)
    if errors:
        raise Invalid(errors)


def as_it_is(bot_id: str) -> BotFacts:
    """Return a bot in its current state, after a change."""
    bot = find_bot(bot_id)
    with one_reading() as reading:
        return facts.bot_facts(reading, bot)


@routes.add("POST", "/bots", scope="bots", code=201)
def register_bot(body: NewBot) -> BotWithSecret:
    """Register a bot, which is checked at once; a web service's secret is shown only once."""
    if must_confirm():
        abort(403, CONFIRM)
    new = bots.NewBot(body.game, body.name, body.endpoint.strip(), body.description)
    if body.program is not None:
        return register_program(new, body.program)
    check_form(new_form(form_of(new)))
    check_requests.claim(new.endpoint)
    bot = registered(new)
    return BotWithSecret(bot=as_it_is(bot.bot_id), shared_secret=bot.secret)


def register_program(new: bots.NewBot, program: ProgramFile) -> BotWithSecret:
    """Register a bot that is a program; refuse it if it also has an address."""
    if new.endpoint:
        raise Invalid({"endpoint": ONE_KIND})
    if new.game == OF_ITS_OWN:
        raise Invalid({"game": ON_ITS_PAGE})
    check_form(new_program_form(form_of(new)))
    package, note = versions.packed(program, new.game)
    bot = registered(new, is_program=True)
    uploads.save(resources(), bot.id, bot.bot_id, package, note)
    check_requests.send(bot.id, is_program=True)
    return BotWithSecret(bot=as_it_is(bot.bot_id), shared_secret=None)


def form_of(new: bots.NewBot) -> MultiDict[str, str]:
    """Return the data of a bot as sent by the form of the page."""
    return MultiDict({name: str(value) for name, value in asdict(new).items()})


def registered(new: bots.NewBot, *, is_program: bool = False) -> bots.Registered:
    """Create a bot; refuse a name that is taken."""
    try:
        with conflicts():
            return add(new, is_program=is_program)
    except bots.NameTaken as error:
        raise Invalid({"name": str(error)}) from None


@routes.add("PATCH", "/bots/<bot_id>", scope="bots")
def change_bot(bot_id: str, body: BotChange) -> BotFacts:
    """Change the endpoint or description of a bot; a new endpoint is checked at once."""
    bot, hub = find_changeable(bot_id), resources()
    endpoint = (bot.endpoint if body.endpoint is None else body.endpoint).strip()
    description = bot.description if body.description is None else body.description
    if bot.kind != "url" and endpoint:
        abort(409, NO_ADDRESS)
    form = EditForm if bot.kind == "url" else DescriptionForm
    check_form(form(MultiDict({"endpoint": endpoint, "description": description})))
    if endpoint != bot.endpoint:
        check_requests.claim(endpoint)
    with conflicts(), hub.database.writing() as writing:
        is_new = bots.edit(writing, hub.clock, bot, endpoint, description)
    if (endpoint, description) != (bot.endpoint, bot.description):
        note_done()
    if is_new:
        check_requests.send(bot.id)
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/check", scope="bots", code=202)
def check_bot(bot_id: str) -> BotFacts:
    """Start a check of a bot; its checks soon show the result."""
    bot = find_changeable(bot_id)
    check_requests.claim_bot(bot)
    if not check_requests.send(bot.id, is_program=bot.kind == "program"):
        abort(503, NO_CHECKS)
    note_done()
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/rotate", scope="bots")
def rotate_secret(bot_id: str) -> BotWithSecret:
    """Give a bot a new secret, shown only once; the old one stops working at once."""
    bot, hub = find_own(bot_id), resources()
    check_requests.claim_bot(bot)
    with conflicts(), hub.database.writing() as writing:
        secret = bots.rotate(writing, hub.clock, hub.sealer, bot)
    note_done()
    check_requests.send(bot.id)
    return BotWithSecret(bot=as_it_is(bot_id), shared_secret=secret)


@routes.add("POST", "/bots/<bot_id>/test-match", scope="bots", code=201)
def test_match(bot_id: str, body: TestMatch) -> Planned:
    """Play a practice match of a bot against a built-in strategy."""
    bot = find_own(bot_id)
    strategies = list(load_strategies(bot.game))
    if body.opponent not in strategies:
        raise Invalid({"opponent": NO_OPPONENT.format(names=", ".join(strategies))})
    with conflicts():
        match_id = begin_practice(bot, body.opponent)
    with one_reading() as reading:
        match = lookup.find(reading, shown_kinds(), match_id) or abort(404)
    return Planned(match=facts.match_facts(match))


@routes.add("POST", "/bots/<bot_id>/retire", scope="bots")
def retire_bot(bot_id: str, body: Retirement) -> BotFacts:
    """Retire a bot permanently; its name confirms this."""
    bot, hub = find_own(bot_id), resources()
    if body.name != bot.name:
        raise Invalid({"name": OTHER_NAME.format(name=bot.name)})
    with hub.database.writing() as writing:
        done = bots.retire(writing, hub.clock, bot.id, player().username)
    if not done:
        abort(409, bots.cannot("RETIRED"))
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/suspend", scope="admin")
def suspend_bot(bot_id: str, body: Suspension) -> BotFacts:
    """Suspend a bot until it is restored; its owner sees the reason."""
    hub = resources()
    try:
        with conflicts(), hub.database.writing() as writing:
            bots.suspend(writing, hub.clock, bot_id, body.reason.strip(), player().username)
    except UsageError:
        abort(404, NO_BOT)
    return as_it_is(bot_id)


@routes.add("POST", "/bots/<bot_id>/restore", scope="admin")
def restore_bot(bot_id: str) -> BotFacts:
    """Lift a suspension: the bot is checked again."""
    hub = resources()
    try:
        with conflicts(), hub.database.writing() as writing:
            bot = bots.restore(writing, hub.clock, bot_id, player().username)
    except UsageError:
        abort(404, NO_BOT)
    check_requests.send_unasked(hub, bot)
    return as_it_is(bot_id)
