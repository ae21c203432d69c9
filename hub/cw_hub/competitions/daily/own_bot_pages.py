"""Pages where players manage their bot for daily games: a web service, or an uploaded program."""

from __future__ import annotations

from typing import Any, Final

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    jsonify,
    render_template,
    request,
    url_for,
)
from flask.typing import ResponseReturnValue
from limits import parse
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from wtforms import Form, SelectField, StringField

from cw.arena.transports.base_address import check_base
from cw.errors import CapacityError, UsageError
from cw_hub.accounts.actor import must_confirm, one_writing, player, players_only, players_only_json
from cw_hub.accounts.forms import first_errors, is_filled, needs, stripped
from cw_hub.accounts.pages import redirect_to
from cw_hub.bots import check_requests, checks, version_pages
from cw_hub.bots import service as bots_service
from cw_hub.bots import versions as bots_versions
from cw_hub.bots.check_requests import UNCONFIRMED
from cw_hub.bots.pages import WHERE_BOTS_MAY_BE
from cw_hub.bots.programs import why_off
from cw_hub.bots.service import BotView, run_program
from cw_hub.bots.version_pages import CHECKED_NEXT, PLAYS_NEXT, Author
from cw_hub.competitions.daily import bots, history
from cw_hub.competitions.daily import standings as rankings
from cw_hub.competitions.daily.bots import FRESH, PROBE, GraderBot
from cw_hub.competitions.daily.history import problem, sentence
from cw_hub.competitions.daily.service import GAME
from cw_hub.operation.queue import PROBES
from cw_hub.pages.layout import machine_time, notice, part_of_page
from cw_hub.pages.request import resources
from cw_hub.pages.request_counts import note_done
from cw_hub.players.packages import Package

family: Final = Blueprint("bot_settings", __name__, url_prefix="/bots/end-of-codes")


def own_bot() -> GraderBot:
    """Return the player's bot; create it on first use."""
    hub, user = resources(), player()
    with hub.database.reading() as reading:
        bot = bots.find(reading, user.user_id)
    if bot is not None and bot.secret is not None:
        return bot
    with one_writing() as writing:
        return bots.make(writing, hub.sealer, user.user_id, user.username)


def author_of(bot: GraderBot) -> Author:
    """Return the current user as the author of the bot's program versions."""
    return Author(bot.id, bot.bot_id, player().username, url, url_for("bot_settings.page"))


def url(name: str, **more: Any) -> str:
    """Return the URL of an action on program versions."""
    return url_for(f"bot_settings.{name}", **more)


@family.post("/upload")
@players_only
def upload() -> ResponseReturnValue:
    """Save an uploaded program as a new version of the player's bot."""
    why = why_off(resources().settings) or (UNCONFIRMED if must_confirm() else "")
    if why:
        abort(409, why)
    bot = own_bot()
    try:
        number = save(bot, *version_pages.sent(GAME))
    except (CapacityError, UsageError) as error:
        notice(str(error), "bad")
        return redirect_to(url_for("bot_settings.page"))
    note_done()
    check_requests.send_check(bot.id, is_program=True)
    notice(CHECKED_NEXT.format(number).capitalize())
    return redirect_to(url_for("bot_settings.page"))


def save(bot: GraderBot, package: Package, note: str) -> int:
    """Turn a bot into a program, and save a version of it; return the version's number."""
    hub = resources()
    new = version_pages.stored(hub.objects, bot.bot_id, package, note)
    with one_writing() as writing:
        run_program(writing, bot.id)
        return bots_service.save_version(writing, bot.id, new)


@family.post("/use-version")
@players_only
def use_version() -> ResponseReturnValue:
    """Switch the player's bot to an earlier version of its program."""
    bot = own_bot()
    try:
        number = version_pages.number_sent()
        with one_writing() as writing:
            run_program(writing, bot.id)
            bots_service.use_version(writing, view_of(bot), number)
    except UsageError as error:
        notice(str(error), "bad")
        return redirect_to(url_for("bot_settings.page"))
    if number != bot.version:
        note_done()
    notice(PLAYS_NEXT.format(number).capitalize())
    return redirect_to(url_for("bot_settings.page"))


@family.get("/version/<int:number>.zip")
@players_only
def version_file(number: int) -> Response:
    """Return a version of the program as a zip file, only to its author."""
    return version_pages.file(author_of(own_bot()), number)


@family.get("/compare")
@players_only
def compare() -> ResponseReturnValue:
    """Show the difference between two versions of the program, only to its author."""
    return version_pages.comparison(author_of(own_bot()))


def view_of(bot: GraderBot) -> BotView:
    """Return the BotView of a bot, which the bot pages use; abort with 404 if it is missing."""
    with resources().database.reading() as reading:
        view = bots_service.find_by_id(reading, bot.bot_id)
    return view or abort(404, "There is no such bot.")


def part(bot: GraderBot) -> Markup:
    """Return the section with the program versions of a bot, for its author."""
    with resources().database.reading() as reading:
        versions = bots_versions.versions_of(reading, bot.id)
    return part_of_page(
        "hub/bots/own_versions.html",
        author=author_of(bot),
        bot=view_of(bot),
        versions=versions,
        why_off=why_off(resources().settings),
    )


routes: Final = family

LONGEST: Final = 500
FORMS: Final = ("urlencoded", "multipart")
OFTEN: Final = parse("10 per minute")
ONCE: Final = parse("1 per 5 second")
"""Rate limit of probes per bot, as a probe waiting in the queue is not in `checked_at` yet."""


def is_bot_base(url: str) -> bool:
    """Return whether a text is a valid base URL of a bot, as the game's document defines it."""
    try:
        return check_base(url) == url
    except UsageError:
        return False


class BotSettingsForm(Form):
    """The bot's URL, and the form encoding of requests to it."""

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
    """Show the settings of the player's bot, and probe the bot."""
    bot = own_bot()
    probe(bot)
    data = MultiDict({"endpoint": "" if bot.kind == "builtin" else bot.endpoint, "form": bot.form})
    return show(bot, BotSettingsForm(data), {})


def probe(bot: GraderBot) -> None:
    """Probe a bot, unless it is no web service, or was probed just now or too often."""
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
    """Queue a probe of a bot, unless its host, the user or the visitor has reached a limit.

    Without a confirmed email address, only a bot never probed before is probed, once an hour.
    """
    hub = resources()
    owner = checks.owner_named(player().user_id)
    if must_confirm() and not (
        bot.is_new and hub.rate_counts.take(checks.FIRST, "first", bot.bot_id)
    ):
        return
    with hub.database.reading() as reading:
        if not checks.may_claim(reading, hub.rate_counts, owner, bot.endpoint, checks.ONE):
            return
    checks.send(hub, PROBE, bot.id, owner, check_requests.visitor(), PROBES)


def show(bot: GraderBot, form: BotSettingsForm, errors: dict[str, str]) -> str:
    """Render the settings page with the submitted form and its errors."""
    hub = resources()
    with hub.database.reading() as reading:
        competition = rankings.competition_of(reading, GAME)
        last = competition and rankings.find(reading, competition.id)
        earlier = history.behaviours(reading, player().user_id)
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
        program=part(bot),
    )


def key_of(bot: GraderBot) -> str:
    """Return the API key that is sent to a bot; "" for none."""
    return (
        "" if bot.secret is None else resources().sealer.open(bot.secret, bot.secret_row).decode()
    )


def checked_at(bot: GraderBot) -> str:
    """Return the time of a bot's last probe in the format for scripts; "" for none."""
    return "" if bot.checked_at is None else machine_time(bot.checked_at)


@routes.post("", endpoint="save")
@players_only
def save_bot() -> ResponseReturnValue:
    """Save the bot's URL and encoding, whether or not the bot is ready; the page then probes it."""
    bot = own_bot()
    form = BotSettingsForm(request.form)
    if not form.validate():
        return show(bot, form, first_errors(form)), 422
    with one_writing() as writing:
        user_id = player().user_id
        changed = bots.save(writing, user_id, form.endpoint.data or "", form.form.data)
    if changed:
        note_done()
    notice("Your bot settings were saved")
    return redirect_to(url_for("bot_settings.page"))


@routes.post("/key")
@players_only
def renew() -> ResponseReturnValue:
    """Give the bot a new API key."""
    hub = resources()
    own_bot()
    with one_writing() as writing:
        bots.renew_key(writing, hub.sealer, player().user_id)
    note_done()
    notice("Your bot has a new API key")
    return redirect_to(url_for("bot_settings.page"))


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
