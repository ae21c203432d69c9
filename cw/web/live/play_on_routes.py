"""Playing on from a turn of a match: bots take the seats, or a person takes one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from flask import Blueprint, Response, abort, current_app, request, url_for

from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.games.registry import load_play_options
from cw.matches.positions import continuable, position_of
from cw.matches.spec import MatchSpec, Secrets
from cw.replays.document import Document, decode
from cw.server.guard import changes_the_game
from cw.web.live.live_matches import LiveMatches
from cw.web.live.live_routes import (
    ANSWER_PACE,
    NUMBER,
    WantedMatch,
    free_name,
    read_pace,
    read_seed,
    seated,
    visitor,
)
from cw.web.live.next_match import BUILT_IN, PERSON
from cw.web.replays.replay_store import ReplayStore
from cw.web.settings import SiteSettings

routes = Blueprint("play_on", __name__)


@routes.post("/replays/<replay:name>/play-on")
@changes_the_game
def from_replay(name: str) -> Response:
    """Begin a match at a turn of a replay, and redirect to its page."""
    store: ReplayStore = current_app.extensions["replay_store"]
    stored = store.find(name)
    if stored is None:
        abort(404, f"there is no replay {name!r}")
    return begin(lambda: decode(stored.path.read_bytes()))


@routes.post("/matches/<name>/play-on")
@changes_the_game
def from_match(name: str) -> Response:
    """Begin a match at a turn of another match of this server, and redirect to its page."""
    matches: LiveMatches = current_app.extensions["matches"]
    match = matches.find(name)
    if match is None:
        abort(404, "there is no such match; the server keeps the latest ones only")
    return begin(match.document)


def begin(document: Callable[[], Document]) -> Response:
    """Begin the match that the form of the request asks for, and redirect to its page."""
    matches: LiveMatches = current_app.extensions["matches"]
    who = visitor()
    # The turns up to the position are replayed, which costs as much as a match.
    with matches.shares.computing(who):
        setup = read_branch(document(), request.form, current_app.extensions["settings"])
    match = matches.begin(
        setup.spec, visitor=who, pace=setup.pace, bot_secrets=setup.secrets, choices=setup.choices
    )
    key = match.key if match.people else None
    address = url_for("matches.watch", name=match.name, hand=key)
    return Response(status=303, headers={"Location": address})


def read_branch(document: Document, form: Mapping[str, str], settings: SiteSettings) -> WantedMatch:
    """Read how to play a match on; raise UsageError if invalid.

    `turn` is how many turns are kept as played, `seat-1` and so on are the players, the default bot
    on seats that are missing, and `pace` is how fast bots play among themselves.
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
    """Return the bots chosen for the seats of a replay, and their secrets by name."""
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
    """Return the turn of the form; raise UsageError if the match does not have it."""
    text = form.get("turn", "")
    if NUMBER.fullmatch(text) and int(text) <= last:
        return int(text)
    raise UsageError(f"turn must be a number from 0 to {last}, not {text[:60]!r}")
