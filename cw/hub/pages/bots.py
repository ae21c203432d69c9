"""The bots of a player: their list, registration, the page of each, and practice matches."""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_network
from typing import Any, Final, cast
from urllib.parse import urlsplit

from flask import (
    Blueprint,
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
from werkzeug.datastructures import MultiDict
from wtforms import Form, SelectField, StringField

from cw.arena.transports.sockets import Reachable
from cw.errors import CapacityError, UsageError
from cw.games.registry import game_entries, load_protocol, load_strategies
from cw.hub.pages import polls
from cw.hub.pages.account import go
from cw.hub.pages.actor import (
    actor,
    one_reading,
    player,
    players_only,
    players_only_json,
    resources,
)
from cw.hub.pages.forms import first_errors, is_filled, needs, stripped
from cw.hub.pages.graphs import PERIODS
from cw.hub.pages.layout import ago, notice, part_of_page, show_once
from cw.hub.pages.leaderboard import number
from cw.hub.pages.polls import Polled
from cw.hub.pages.remembered import Remembered, minute
from cw.hub.pages.times import machine_time
from cw.hub.services import (
    audit,
    bots,
    competitions,
    leaderboard,
    match_views,
    matches,
    people,
    rated,
)
from cw.hub.services.bots import NewBot, OwnBot
from cw.hub.settings import HubSettings
from cw.hub.store.database import Reading
from cw.league.matchmaking import CRASH_REST, CRASHES
from cw.web.game_pages import game_page

routes = Blueprint("bots", __name__)

OF_ITS_OWN: Final = "end-of-codes"
"""The game whose bots are set up on a page of their own."""

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

CONFIRM: Final = "Please confirm your e-mail address before you register a bot."
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


def has_safe_scheme(url: str) -> bool:
    """Return whether an address may be used here: most sites ask for https."""
    return url.startswith("https://") or not resources().settings.bots_need_https


def may_be_at(url: str) -> bool:
    """Return whether bots may have an address here."""
    return may_be_there(urlsplit(url).hostname or "", resources().settings)


def may_be_there(host: str, settings: HubSettings) -> bool:
    """Return whether bots may be at a host; one that does not resolve is left to the check."""
    first, *networks = settings.bots_may_be
    reachable = Reachable(first == "any", tuple(map(ip_network, networks)))
    with suppress(OSError, UnicodeError):
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return all(reachable.includes(str(address[0])) for *_, address in found)
    return True


def endpoint_field() -> Any:
    """Return the field of the address of a bot."""
    return StringField(
        "Endpoint URL",
        [
            needs(is_filled, "Please enter the endpoint URL"),
            needs(
                lambda url: len(url) <= 500,
                "The endpoint URL must be at most 500 characters long",
            ),
            needs(is_base_address, "Please enter a valid URL"),
            needs(has_safe_scheme, "The endpoint must use https"),
            needs(may_be_at, INTERNAL),
        ],
        filters=[stripped],
    )


def description_field() -> Any:
    """Return the field of what is said of a bot."""
    return StringField(
        "Description",
        [
            needs(
                lambda text: len(text) <= 500,
                "The description must be at most 500 characters long",
            )
        ],
    )


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
    endpoint = endpoint_field()
    description = description_field()


class EditForm(Form):
    """Change where a bot is, and what is said of it."""

    endpoint = endpoint_field()
    description = description_field()


def new_form(values: MultiDict[str, str] | None = None) -> BotForm:
    """Return the form with the games for which one registers bots now."""
    form, games = BotForm(values), offered_games()
    form.game.choices = [(game, game_page(game).title) for game in games]
    form.game.validators = [needs(lambda game: game in games, "Please choose a game")]
    form.game.validate_choice = False
    return form


def offered_games() -> list[str]:
    """Return the games for which one registers a web service now, so that it has where to play."""
    with one_reading() as reading:
        going_on = competitions.games_for_bots(reading)
    return [game for game in games_of_services() if game in going_on]


def games_of_services() -> list[str]:
    """Return the games whose bots are web services, but for the one with a page of its own."""
    return [
        game
        for game in game_entries()
        if "http" in load_protocol(game).transports and game != OF_ITS_OWN
    ]


@routes.get("/bots")
@players_only
def index() -> ResponseReturnValue:
    """List the bots of the player."""
    with one_reading() as reading:
        mine = bots.own_bots(reading, player().user_id)
    return render_template("hub/bots.html", bots=mine)


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
    if not form.game.choices:
        return refused(form, {})
    if must_confirm():
        return refused(form, {"": CONFIRM})
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
    return secret_page(said["game"], said["name"], made.secret, "is registered")


def secret_page(game: str, name: str, secret: str, words: str) -> ResponseReturnValue:
    """Show the secret of a bot: this once."""
    back = url_for("bots.page", name=name, game=game)
    return show_once(f"{name} {words}", "Shared secret", secret, back)


def must_confirm() -> bool:
    """Return whether the player who asks must confirm an e-mail address first."""
    held = resources()
    if held.settings.is_local:
        return False
    with held.database.reading() as reading:
        return not people.is_confirmed(reading, player().user_id)


def refused(form: BotForm, errors: dict[str, str]) -> ResponseReturnValue:
    """Show the form again, with what is wrong."""
    shown = render_template(
        "hub/new_bot.html", form=form, errors=errors, confirm=errors.get("") == CONFIRM
    )
    return shown, 422


def find(name: str) -> OwnBot:
    """Return a bot of the player who asks; answer 404 for any other."""
    with one_reading() as reading:
        bot = bots.find(reading, request.values.get("game") or None, name)
    if bot is None or bot.user_id != player().user_id or bot.status == "RETIRED":
        abort(404, "There is no such bot.")
    if bot.game == OF_ITS_OWN:
        abort(go(url_for("bot_settings.page")))
    return bot


def address(bot: OwnBot) -> str:
    """Return the address of the page of a bot."""
    return url_for("bots.page", name=bot.name, game=bot.game)


@routes.get("/bot/<name>")
def page(name: str) -> ResponseReturnValue:
    """Show a bot to everybody; to its owner and admins also how its checks went."""
    who = actor()
    with one_reading() as reading:
        bot = bots.find(reading, request.args.get("game") or None, name)
        if bot is None:
            abort(404, "There is no such bot.")
        is_own = who.is_user(bot.user_id)
        shown = rated_part(reading, bot, is_public=not (is_own or who.is_admin))
        practice = match_views.practice_of(reading, bot.id) if is_own else []
        log = audit.history(reading, f"bot:{bot.bot_id}") if is_own or who.is_admin else []
    return render_template(
        "hub/bot.html",
        bot=bot,
        is_own=is_own,
        title=game_page(bot.game).title,
        strategies=strategies_of({bot.game}),
        sentence=sentence(bot, shown.standing),
        rating=shown.rating,
        matches=shown.matches,
        has_played=shown.has_played,
        practice=practice,
        log=log,
    )


@dataclass(frozen=True, slots=True)
class RatedPart:
    """What a bot has come to in the rated competition of its game, as HTML for everybody."""

    standing: leaderboard.Standing | None = None
    """None for one that takes no part."""
    has_played: bool = False
    rating: Markup = NOTHING
    matches: Markup = NOTHING


def install(app: Flask) -> None:
    """Let an app remember what it shows of bots."""
    app.extensions["rated_parts"] = Remembered[RatedPart](MOST_KEPT)


def rated_part(reading: Reading, bot: OwnBot, *, is_public: bool) -> RatedPart:
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
    kept = cast("Remembered[RatedPart]", current_app.extensions["rated_parts"])
    key = (bot.id, competition.id, competition.revision, part, minute(resources().clock()))
    return kept.find(key, lambda: new_rated_part(reading, competition.id, bot, part))


def new_rated_part(reading: Reading, competition: int, bot: OwnBot, part: int) -> RatedPart:
    """Make the rated part of the page of a bot, with a part of those whom it has met."""
    standing = leaderboard.standing(reading, competition, bot.id)
    if standing is None:
        return RatedPart()
    played = match_views.rated_matches_of(reading, competition, bot.id)
    first = (part - 1) * leaderboard.PER_PAGE
    met = leaderboard.opponents(reading, competition, bot.id, first)
    rating = part_of_page(
        "hub/bot_rating.html",
        bot=bot,
        standing=standing,
        played=played,
        periods=[(length.days if length else 0, words) for words, length in PERIODS.values()],
    )
    matches_played = part_of_page(
        "hub/bot_matches.html",
        bot=bot,
        played=played,
        opponents=met.rows,
        part=part,
        parts=-(-met.number // leaderboard.PER_PAGE),
    )
    return RatedPart(standing, bool(played), rating, matches_played)


def sentence(bot: OwnBot, standing: leaderboard.Standing | None) -> Markup:
    """Say how a bot stands, and what comes next."""
    if bot.status == "ACTIVE":
        return active_sentence(bot, standing)
    if bot.status == "INACTIVE" and bot.check_due_at:
        return Markup("{} It is checked again {}.").format(bot.reason, ago(bot.check_due_at))
    return WORDS[bot.status].format(bot.reason)


def active_sentence(bot: OwnBot, standing: leaderboard.Standing | None) -> Markup:
    """Say what a bot does that takes part."""
    if standing is None:
        return (BUILT_IN if bot.kind == "builtin" else PASSED).format(bot.endpoint)
    said = Markup("The bot takes part in matches.")
    if standing.is_playing:
        return said + " It is playing now."
    if standing.last_match_at and standing.crash_streak >= CRASHES:
        until = standing.last_match_at + timedelta(seconds=CRASH_REST)
        if until > resources().clock():
            return said + RESTS.format(ago(until))
    return said


@routes.get("/bot/<name>/ratings")
def ratings(name: str) -> ResponseReturnValue:
    """Return the shown ratings of a bot over time, for the chart of its page."""
    with one_reading() as reading:
        bot = bots.find(reading, request.args.get("game") or None, name)
        competition = bot and rated.of_game(reading, bot.game)
        if bot is None or not competition:
            abort(404, "There is no such bot.")
        points = leaderboard.history(reading, competition.id, bot.id)
    return jsonify(
        times=[point.at.timestamp() for point in points],
        ratings=[round(point.shown, 1) for point in points],
    )


@routes.get("/bot/<name>/state")
@players_only_json
def state(name: str) -> ResponseReturnValue:
    """Return how a bot stands, for the script of its page; 304 if nothing has changed."""
    game = request.args.get("game", "")
    return polls.answer(f"bot {game} {name}", lambda: polled(find(name)))


def polled(bot: OwnBot) -> Polled:
    """Return what the page of a bot asks again and again, while it is checked."""
    checked = machine_time(bot.checked_at) if bot.checked_at else ""
    said = {"status": bot.status, "checked_at": checked}
    return Polled(f"{bot.bot_id}-{bot.status}-{checked}", said, is_public=False)


@routes.post("/bot/<name>/edit")
@players_only
def edit(name: str) -> ResponseReturnValue:
    """Change where a bot is, and what is said of it."""
    bot, held, form = find(name), resources(), EditForm(request.form)
    form.validate()
    errors = first_errors(form)
    if errors:
        notice(next(iter(errors.values())), "bad")
        return go(address(bot))
    try:
        with held.database.writing() as writing:
            said = (form.endpoint.data or "", form.description.data or "")
            is_new = bots.edit(writing, held.clock, bot, *said)
    except bots.WrongStatus as error:
        abort(409, str(error))
    if is_new:
        held.queue.send(bots.CHECK, bot.id)
    notice("Your changes were saved")
    return go(address(bot))


@routes.post("/bot/<name>/rotate")
@players_only
def rotate(name: str) -> ResponseReturnValue:
    """Give a bot a new secret, and show it once."""
    bot, held = find(name), resources()
    try:
        with held.database.writing() as writing:
            secret = bots.rotate(writing, held.clock, held.sealer, bot)
    except (bots.WrongStatus, bots.Busy) as error:
        abort(409, str(error))
    held.queue.send(bots.CHECK, bot.id)
    return secret_page(bot.game, bot.name, secret, "has a new secret")


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
