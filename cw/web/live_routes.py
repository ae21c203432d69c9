"""Routes for live matches: start, watch, play by hand, read bot output, and play on from a turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from random import SystemRandom
from typing import Any, Final

import msgspec
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

from cw import documents
from cw.arena.bots import BotSpec
from cw.errors import ArenaError, CapacityError, UsageError, visible
from cw.games.entry import Choice, PlayOptions
from cw.games.registry import game_entry, load_play_options, load_strategies
from cw.games.rules import Json
from cw.matches.from_replay import continuable, position_of
from cw.matches.spec import MatchSpec, Secrets
from cw.replays.document import Document, decode
from cw.replays.outputs import Output, read_outputs
from cw.server.guard import changes_the_game, refuse_other_sites
from cw.server.rooms import replay_address
from cw.web.games import game_page
from cw.web.live_match import Guest, LiveMatch
from cw.web.live_matches import (
    BUILT_IN,
    OWN,
    PERSON,
    LiveMatches,
    Opponents,
    OwnBot,
    OwnBots,
    form_seats,
    next_matches,
    read_seats,
)
from cw.web.replay_store import ReplayStore, ReplaySummary
from cw.web.settings import SiteSettings, revalidated

routes = Blueprint("matches", __name__)

PACES: Final[Mapping[str, float]] = {"4": 0.25, "2": 0.5, "8": 0.125, "16": 0.0625, "all": 0.0}
"""The offered speeds in turns per second, the default first, with the seconds per turn."""

ANSWER_PACE: Final = 0.5
"""Seconds until a bot's reply to a human is shown (hexagon.md, "A human against a bot")."""

MOST_SEED: Final = 2**31 - 1
MOST_LISTED: Final = 20
LONGEST_TOURNAMENT: Final = 64
NUMBER: Final = re.compile(r"\d{1,9}")


@routes.post("/games/<game>/matches")
@changes_the_game
def begin(game: str) -> Response:
    """Start the match requested by a form, and redirect to its page."""
    with ExitStack() as room:
        setup = read_form(game, request.form, _settings(), partial(ready, game, room))
        match = _matches().begin(
            setup.spec,
            visitor=setup.guest.owner if setup.guest else visitor(),
            pace=setup.pace,
            bot_secrets=setup.secrets,
            choices=setup.choices,
            guest=setup.guest,
            room=room,
        )
    match.tournament = request.form.get("tournament", "")[:LONGEST_TOURNAMENT]
    key = match.key if match.people else None
    return _leading(url_for("matches.watch", name=match.name, hand=key))


@routes.get("/matches/<name>")
def watch(name: str) -> Response:
    """Return the page for watching a match, or, with its key, for playing it."""
    match = _find(name)
    key = request.args.get("hand", "")
    page = render_template(
        "match.html",
        match=match,
        key=key if match.people and match.fits(key) else "",
        title=game_page(match.spec.game).title,
        next_matches=next_matches(match.spec, match.choices),
    )
    return revalidated(page)


@routes.get("/matches/<name>/document")
def document(name: str) -> Response:
    """Return the replay as played so far; with `after`, only what followed that many turns.

    The status is 202 before the start, 304 if nothing has changed.
    """
    match = _find(name)
    key, after = request.args.get("hand", ""), request.args.get("after", "")
    is_asked = match.asked(key) is not None
    tag = f"{match.version}-{is_asked:d}"
    if tag in request.if_none_match:
        return revalidated(Response(status=304, headers={"ETag": f'"{tag}"'}))
    try:
        payload = match.news(int(after)) if NUMBER.fullmatch(after) else match.document()
    except CapacityError as refusal:
        return _json({"waiting": str(refusal), "over": match.over}, 202)
    links = {"replay": replay_address(match.replay)}
    answer = _json(payload | links | {"yours": match.turn_of(key)})
    answer.set_etag(tag)
    return answer


@routes.post("/matches/<name>/move")
@changes_the_game
def move(name: str) -> Response:
    """Play an action by hand: `{"turn": turns played so far, "action": its document}`."""
    _find(name)
    try:
        message = documents.decode(request.get_data(), MoveByHand)
        _matches().play(name, request.args.get("hand", ""), message.turn, message.action)
    except (ArenaError, msgspec.DecodeError, RecursionError) as error:
        return _json({"error": str(error)}, 400)
    return _json({}, 202)


@routes.post("/matches/<name>/resign")
@changes_the_game
def resign(name: str) -> Response:
    """Resign a match played by hand, which is then lost."""
    _find(name)
    _matches().resign(name, request.args.get("hand", ""))
    return _json({}, 202)


class MoveByHand(msgspec.Struct):
    """The body of a request to play an action by hand."""

    turn: int
    action: Json


@routes.app_context_processor
def _for_pages() -> dict[str, Any]:
    return {"match_form": match_form, "opponents": opponents}


def match_form(game: str) -> dict[str, Any] | None:
    """Return the data for a game's forms; None if the server plays no matches."""
    matches, settings = _matches(), _settings()
    if not matches.is_open:
        return None
    return {
        "play_options": offered_options(game),
        "seats": form_seats(game),
        "strategies": list(load_strategies(game)),
        "opponents": [bot.name for bot in settings.opponents.get(game, ())],
        "paces": list(PACES),
        "matches": matches.of(game)[:MOST_LISTED],
    }


def offered_options(game: str) -> PlayOptions:
    """Return the options offered in a game's forms.

    A game with hidden information is not played by hand, as its page shows everything.
    """
    play_options = load_play_options(game)
    hides = game_entry(game).has_hidden_information
    return replace(play_options, moves=None) if hides else play_options


def opponents(game: str) -> Opponents | None:
    """Return the opponents offered to a human player before the built-in strategies, or None."""
    own_bots: OwnBots | None = current_app.extensions.get("own_bots")
    if own_bots is None or offered_options(game).moves is None:
        return None
    return own_bots.opponents(game)


def ready(game: str, room: ExitStack, choice: str) -> OwnBot:
    """Return the current user's chosen bot; raise UsageError if there is none."""
    own_bots: OwnBots | None = current_app.extensions.get("own_bots")
    if own_bots is None:
        raise UsageError("this server does not run visitors' bots")
    return own_bots.ready(game, choice, room)


@dataclass(frozen=True, slots=True)
class WantedMatch:
    """The match requested by a form."""

    spec: MatchSpec
    pace: float
    """Minimum time per bot action, in seconds."""
    secrets: Secrets
    choices: tuple[str, ...]
    """The choice for each seat."""
    guest: Guest | None = None


def read_form(
    game: str, form: Mapping[str, str], settings: SiteSettings, bring: Callable[[str], OwnBot]
) -> WantedMatch:
    """Read the requested match; raise UsageError if the form is invalid.

    `bring` returns the current user's own bot.
    """
    play_options = offered_options(game)
    choices = read_seats(game, form)
    if choices.count(PERSON) > 1:
        raise UsageError("only one person can play here, against bots")
    brought = [choice for choice in choices if choice.startswith(OWN)]
    if len(brought) > choices.count(PERSON):
        raise UsageError("a bot of your own plays here only against you")
    options = {choice.option: read_choice(choice, form) for choice in play_options.choices}
    pace = ANSWER_PACE if PERSON in choices else read_pace(form)
    seed = read_seed(form)
    own_bot = bring(brought[0]) if brought else None
    bots, secrets = seat_all(game, choices, settings, own_bot)
    isolation = own_bot.isolation if own_bot else settings.isolation
    spec = MatchSpec("page", game, bots, seed, options, isolation=isolation)
    return WantedMatch(spec, pace, secrets, choices, own_bot.guest if own_bot else None)


def seat_all(
    game: str, choices: Sequence[str], settings: SiteSettings, own_bot: OwnBot | None
) -> tuple[tuple[BotSpec, ...], Secrets]:
    """Return the bots chosen for the seats, and their secrets by bot name."""
    play_options = offered_options(game)
    bots: list[BotSpec] = []
    secrets: dict[str, Mapping[str, str]] = {}
    # A program registers under its own name, so other bots are renamed if necessary.
    reserved = [own_bot.bot] if own_bot else []
    for choice in choices:
        if own_bot and choice.startswith(OWN):
            bots.append(own_bot.bot)
            secrets[own_bot.bot.name] = own_bot.secrets
        else:
            bot = seated(game, play_options, choice, settings)
            bots.append(msgspec.structs.replace(bot, name=free_name(bot.name, [*reserved, *bots])))
            secrets[bots[-1].name] = settings.secrets.get(bot.name, {})
    return tuple(bots), secrets


def seated(game: str, play_options: PlayOptions, choice: str, settings: SiteSettings) -> BotSpec:
    """Return the player chosen for a seat; raise UsageError if there is no such player."""
    if choice == PERSON and play_options.moves is not None:
        return BotSpec("you", "human", "")
    opponents = {bot.name: bot for bot in settings.opponents.get(game, ())}
    kind, _, name = choice.partition(":")
    if kind == "builtin" and name in load_strategies(game):
        return BotSpec(name, "builtin", name)
    if kind == "bot" and name in opponents:
        return opponents[name]
    raise UsageError(f"there is no bot {choice[:60]!r}")


def free_name(name: str, others: list[BotSpec]) -> str:
    """Return a name, with a number appended if another bot already has it."""
    names = {bot.name for bot in others}
    # No separator, as games differ in the characters that they allow in names.
    numbered = (f"{name}{number}" for number in range(2, len(others) + 3))
    return name if name not in names else next(free for free in numbered if free not in names)


def read_choice(choice: Choice, form: Mapping[str, str]) -> Json:
    """Return the value of an option; the default if the form does not set it."""
    text = form.get(choice.option, str(choice.values[0]))
    for value in choice.values:
        if str(value) == text:
            return value
    allowed = ", ".join(map(str, choice.values))
    raise UsageError(f"{choice.option} must be one of {allowed}, not {text[:60]!r}")


def read_pace(form: Mapping[str, str]) -> float:
    """Return the seconds per action for the form's pace; the default if it sets none."""
    text = form.get("pace", next(iter(PACES)))
    if text not in PACES:
        raise UsageError(f"the pace must be one of {', '.join(PACES)}")
    return PACES[text]


def read_seed(form: Mapping[str, str]) -> int:
    """Return the seed from the form, or a random one."""
    text = form.get("seed", "")
    if not text:
        return SystemRandom().randint(0, MOST_SEED)
    if NUMBER.fullmatch(text):
        return int(text)
    raise UsageError(f"the seed must be a number of up to 9 digits, not {text[:60]!r}")


def _find(name: str) -> LiveMatch:
    match = _matches().find(name)
    if match is None:
        abort(404, "there is no such match; the server keeps the latest ones only")
    return match


def visitor() -> str:
    """Return the current visitor, for the shares of live matches; "" for the server's owner."""
    if _settings().owner:
        return ""
    named: Callable[[], str] | None = current_app.extensions.get("visitor")
    return named() if named else request.remote_addr or "unknown"


def _matches() -> LiveMatches:
    matches: LiveMatches = current_app.extensions["matches"]
    return matches


def _settings() -> SiteSettings:
    settings: SiteSettings = current_app.extensions["settings"]
    return settings


def _json(document: Json, code: int = 200) -> Response:
    answer = Response(msgspec.json.encode(document), code, content_type="application/json")
    return revalidated(answer)


def _leading(address: str) -> Response:
    answer = Response(status=303)
    answer.headers["Location"] = address
    return answer


output_routes = Blueprint("outputs", __name__)


@output_routes.get("/replays/<replay:name>/output")
def of_replay(name: str) -> Response:
    """Return the standard error of the bots in a replay, in seat order.

    `{"output": [text, ...], "turns": [[[turn, text], ...], ...]}`: all of it, and by turn.
    """
    refuse_strangers()
    store: ReplayStore = current_app.extensions["replay_store"]
    stored = store.find(name)
    summary = None if stored is None else store.summary(stored)
    if stored is None or not isinstance(summary, ReplaySummary):
        abort(404, f"there is no replay {name!r}")
    return answer(read_outputs(stored.path, len(summary.names)))


@output_routes.get("/matches/<name>/output")
def of_match(name: str) -> Response:
    """Return the same for one of this server's matches; empty before the match has ended."""
    refuse_strangers()
    matches: LiveMatches = current_app.extensions["matches"]
    match = matches.find(name)
    if match is None:
        abort(404, "there is no such match; the server keeps the latest ones only")
    record = None if match.progress is None else match.progress.record
    if record is None:
        return answer([])
    return answer(
        [
            Output(record.stderr.get(player, ""), record.stderr_turns.get(player, ()))
            for player in record.bots
        ]
    )


def refuse_strangers() -> None:
    """Reject the request unless visitors own the bots here, or if another site's page sent it."""
    settings: SiteSettings = current_app.extensions["settings"]
    if not settings.owner:
        abort(404, "this server does not show the output of bots")
    refuse_other_sites()


def answer(outputs: Sequence[Output]) -> Response:
    """Return the output of bots as JSON, with control characters made visible."""
    response = jsonify(
        output=[visible(output.text) for output in outputs],
        turns=[[(turn, visible(text)) for turn, text in output.parts] for output in outputs],
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@output_routes.app_context_processor
def _outputs_for_pages() -> dict[str, Any]:
    return {"owns_bots": current_app.extensions["settings"].owner}


play_on_routes = Blueprint("play_on", __name__)


@play_on_routes.post("/replays/<replay:name>/play-on")
@changes_the_game
def from_replay(name: str) -> Response:
    """Start a match at a turn of a replay, and redirect to its page."""
    store: ReplayStore = current_app.extensions["replay_store"]
    stored = store.find(name)
    if stored is None:
        abort(404, f"there is no replay {name!r}")
    return begin_from_turn(lambda: decode(stored.path.read_bytes()))


@play_on_routes.post("/matches/<name>/play-on")
@changes_the_game
def from_match(name: str) -> Response:
    """Start a match at a turn of another of this server's matches, and redirect to its page."""
    matches: LiveMatches = current_app.extensions["matches"]
    match = matches.find(name)
    if match is None:
        abort(404, "there is no such match; the server keeps the latest ones only")
    return begin_from_turn(match.document)


def begin_from_turn(document: Callable[[], Document]) -> Response:
    """Start the match requested by the request's form, and redirect to its page."""
    matches: LiveMatches = current_app.extensions["matches"]
    who = visitor()
    # The turns up to the position are played again, which takes as much time as a match.
    with matches.shares.computing(who):
        setup = read_branch(document(), request.form, current_app.extensions["settings"])
    match = matches.begin(
        setup.spec, visitor=who, pace=setup.pace, bot_secrets=setup.secrets, choices=setup.choices
    )
    key = match.key if match.people else None
    address = url_for("matches.watch", name=match.name, hand=key)
    return Response(status=303, headers={"Location": address})


def read_branch(document: Document, form: Mapping[str, str], settings: SiteSettings) -> WantedMatch:
    """Read how to continue a match; raise UsageError if the form is invalid.

    `turn` is how many turns are kept as played, `seat-1` and so on are the players, with the
    default bot for missing seats, and `pace` is how fast bots play among themselves.
    """
    game = continuable(document).name
    turn = read_turn(form, len(document["turns"]))
    usual = f"{BUILT_IN}{load_play_options(game).strategies[0]}"
    seats = range(1, len(document["players"]) + 1)
    choices = tuple(form.get(f"seat-{number}", usual) for number in seats)
    if choices.count(PERSON) > 1:
        raise UsageError("only one person can play here, against bots")
    bots, secrets = seated_in(document, choices, settings)
    there, seed = position_of(document, turn), read_seed(form)
    spec = MatchSpec("page", game, bots, seed, there.options, there.start, settings.isolation)
    pace = ANSWER_PACE if PERSON in choices else read_pace(form)
    return WantedMatch(spec, pace, secrets, choices)


def seated_in(
    document: Document, choices: Sequence[str], settings: SiteSettings
) -> tuple[tuple[BotSpec, ...], Secrets]:
    """Return the bots chosen for the seats of a replay, and their secrets by bot name."""
    play_options = load_play_options(document["game"])
    bots: list[BotSpec] = []
    secrets: dict[str, Mapping[str, str]] = {}
    for player, choice in zip(document["players"], choices, strict=True):
        bot = seated(document["game"], play_options, choice, settings)
        bots.append(msgspec.structs.replace(bot, name=name_in(player["player"], bot.name, bots)))
        secrets[bots[-1].name] = settings.secrets.get(bot.name, {})
    return tuple(bots), secrets


def name_in(player: Any, name: str, others: list[BotSpec]) -> str:
    """Return the player's name if the game names its players; otherwise a free name for the bot."""
    return player if isinstance(player, str) else free_name(name, others)


def read_turn(form: Mapping[str, str], last: int) -> int:
    """Return the turn from the form; raise UsageError if the match has no such turn."""
    text = form.get("turn", "")
    if NUMBER.fullmatch(text) and int(text) <= last:
        return int(text)
    raise UsageError(f"turn must be a number from 0 to {last}, not {text[:60]!r}")
