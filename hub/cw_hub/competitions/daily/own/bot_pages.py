"""Bot settings: a player's single End of Codes bot, and its behaviour in games."""

from __future__ import annotations

from typing import Final

from flask import Response, current_app, jsonify, render_template, request, url_for
from flask.typing import ResponseReturnValue
from limits import parse
from werkzeug.datastructures import MultiDict
from wtforms import Form, SelectField, StringField

from cw.arena.transports.base_address import check_base
from cw.errors import UsageError
from cw_hub.accounts.access.actor import player, players_only, players_only_json
from cw_hub.accounts.forms import first_errors, is_filled, needs, stripped
from cw_hub.accounts.pages import go, must_confirm
from cw_hub.bots.checks import asking, check_requests
from cw_hub.bots.forms import WHERE_BOTS_MAY_BE
from cw_hub.competitions.daily import bots as grader_bots
from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.bots import FRESH, PROBE, GraderBot
from cw_hub.competitions.daily.entrants import GAME
from cw_hub.competitions.daily.history import lookup
from cw_hub.competitions.daily.history.behaviour import problem, sentence
from cw_hub.competitions.daily.own import program_pages
from cw_hub.competitions.daily.own.own_bot import family, own_bot
from cw_hub.operation.queue import PROBES
from cw_hub.pages.limiter import note_done
from cw_hub.pages.parts import notice
from cw_hub.pages.request import resources
from cw_hub.pages.times import machine_time

routes: Final = family

LONGEST: Final = 500
FORMS: Final = ("urlencoded", "multipart")
OFTEN: Final = parse("10 per minute")
ONCE: Final = parse("1 per 5 second")
"""Rate of probes per bot; a probe that still waits in the queue is not on record yet."""


def is_bot_base(url: str) -> bool:
    """Return whether a text is a valid bot base, as the game's document defines it."""
    try:
        return check_base(url) == url
    except UsageError:
        return False


class BotSettingsForm(Form):
    """The address of the bot, and the encoding of requests to it."""

    endpoint = StringField(
        "Bot URL:",
        [
            needs(is_filled, "Please enter your bot URL"),
            needs(
                lambda url: len(url) <= LONGEST and is_bot_base(url),
                "Please enter a valid HTTP URL",
            ),
            *WHERE_BOTS_MAY_BE,
        ],
        filters=[stripped],
    )
    # The library's stubs do not accept choices that are plain strings.
    form = SelectField("Form encoding", choices=list(FORMS), default=FORMS[0])  # type: ignore[arg-type]


@routes.get("")
@players_only
def page() -> ResponseReturnValue:
    """Show the player's bot, and probe it."""
    bot = own_bot()
    probe(bot)
    data = MultiDict({"endpoint": "" if bot.kind == "builtin" else bot.endpoint, "form": bot.form})
    return show(bot, BotSettingsForm(data), {})


def probe(bot: GraderBot) -> None:
    """Probe a bot, unless it was probed just now or too often."""
    hub = resources()
    is_fresh = bot.checked_at is not None and hub.clock() - bot.checked_at < FRESH
    if bot.kind != "url" or not bot.endpoint or is_fresh:
        return
    counter = current_app.extensions["limiter_of_hub"].limiter
    if counter.hit(ONCE, "probe", bot.endpoint, bot.secret_row) and counter.hit(
        OFTEN, "probes", str(player().user_id)
    ):
        send_probe(bot)


def send_probe(bot: GraderBot) -> None:
    """Enqueue a probe, unless its host gets too many requests or earlier probes are unfinished.

    Without a confirmed e-mail address, a user gets only the first probe.
    """
    hub = resources()
    owner = asking.owner_named(player().user_id)
    if must_confirm() and not (
        bot.is_new and hub.rate_counts.take(asking.FIRST, "first", bot.bot_id)
    ):
        return
    with hub.database.reading() as reading:
        if not asking.may_claim(reading, hub.rate_counts, owner, bot.endpoint, asking.ONE):
            return
    asking.send(hub, PROBE, bot.id, owner, check_requests.visitor(), PROBES)


def show(bot: GraderBot, form: BotSettingsForm, errors: dict[str, str]) -> str:
    """Return the page with the submitted form."""
    hub = resources()
    with hub.database.reading() as reading:
        competition = rankings.competition_of(reading, GAME)
        last = competition and rankings.find(reading, competition.id)
        earlier = lookup.behaviours(reading, player().user_id)
    is_last = bool(last and earlier and earlier[0].match_id == last.game.match_id)
    behaved = earlier[0] if is_last else None
    return render_template(
        "hub/competitions/daily/bot_settings.html",
        bot=bot,
        form=form,
        errors=errors,
        forms=FORMS,
        key=key_of(bot),
        last=last,
        behaved=behaved,
        words=sentence(behaved),
        earlier=[(one, problem(one.report, one.died) if one.report else "") for one in earlier],
        checked_at=checked_at(bot),
        program=program_pages.part(bot),
    )


def key_of(bot: GraderBot) -> str:
    """Return the key sent to a bot."""
    return (
        "" if bot.secret is None else resources().sealer.open(bot.secret, bot.secret_row).decode()
    )


def checked_at(bot: GraderBot) -> str:
    """Return the time of a bot's last probe, for scripts."""
    return "" if bot.checked_at is None else machine_time(bot.checked_at)


@routes.post("")
@players_only
def save() -> ResponseReturnValue:
    """Save address and encoding, whatever the bot answers, and probe the bot."""
    bot = own_bot()
    form = BotSettingsForm(request.form)
    if not form.validate():
        return show(bot, form, first_errors(form)), 422
    with resources().database.writing() as writing:
        user_id = player().user_id
        changed = grader_bots.save(writing, user_id, form.endpoint.data or "", form.form.data)
    if changed:
        note_done()
    notice("Your bot settings were saved")
    return go(url_for("bot_settings.page"))


@routes.post("/key")
@players_only
def renew() -> ResponseReturnValue:
    """Give the bot a new key."""
    hub = resources()
    own_bot()
    with hub.database.writing() as writing:
        grader_bots.renew_key(writing, hub.sealer, player().user_id)
    note_done()
    notice("Your bot has a new API key")
    return go(url_for("bot_settings.page"))


@routes.get("/probe")
@players_only_json
def last_probe() -> Response:
    """Return the result of the last probe for the page's script, or 304 if unchanged."""
    bot = own_bot()
    answer = jsonify(
        standing=bot.standing,
        checked_at=checked_at(bot),
        html=render_template("hub/competitions/daily/bot_status.html", bot=bot),
    )
    answer.add_etag()
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.make_conditional(request)
    return answer
