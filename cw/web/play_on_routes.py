"""Playing on from a turn of a match: a person takes a seat, bots take the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from flask import Blueprint, Response, abort, current_app, request, url_for

from cw.arena.bots import BotSpec
from cw.errors import UsageError
from cw.games.codec import Game
from cw.games.registry import load_game, load_play_options, load_protocol
from cw.matches.spec import Isolation, MatchSpec, Secrets
from cw.replays.document import Document, decode, states
from cw.server.guard import changes_the_game
from cw.web.live_matches import LiveMatches
from cw.web.live_routes import (
    ANSWER_PACE,
    NUMBER,
    WantedMatch,
    free_name,
    read_seed,
    seated,
)
from cw.web.next_match import PERSON
from cw.web.replay_store import ReplayStore
from cw.web.settings import SiteSettings

routes = Blueprint("play_on", __name__)


@routes.post("/replays/<replay:name>/play-on")
@changes_the_game
def from_replay(name: str) -> Response:
    """Begin a match with a turn of a replay, and lead to its page."""
    store: ReplayStore = current_app.extensions["replay_store"]
    stored = store.find(name)
    if stored is None:
        abort(404, f"there is no replay {name!r}")
    return begin(decode(stored.path.read_bytes()))


@routes.post("/matches/<name>/play-on")
@changes_the_game
def from_match(name: str) -> Response:
    """Begin a match with a turn of another match of this server, and lead to its page."""
    matches: LiveMatches = current_app.extensions["matches"]
    match = matches.find(name)
    if match is None:
        abort(404, "there is no such match; the server keeps the latest ones only")
    return begin(match.document())


def begin(document: Document) -> Response:
    """Begin the match that the form of the request asks for, and lead to its page."""
    wanted = read_branch(document, request.form, current_app.extensions["settings"])
    matches: LiveMatches = current_app.extensions["matches"]
    match = matches.begin(
        wanted.spec, pace=wanted.pace, bot_secrets=wanted.secrets, chosen=wanted.chosen
    )
    address = url_for("matches.watch", name=match.name, hand=match.key)
    return Response(status=303, headers={"Location": address})


def read_branch(document: Document, form: Mapping[str, str], settings: SiteSettings) -> WantedMatch:
    """Read how a match is played on; raise UsageError with what is wrong.

    `turn` is how many turns stay as they were played, `seat` the number of the person's seat, from
    1, and `bot` who sits on all others.
    """
    game = playable(document)
    turn = read_number(form, "turn", 0, len(document["turns"]))
    seat = read_number(form, "seat", 1, len(document["players"]))
    rival = form.get("bot", "")
    if rival == PERSON:
        raise UsageError("one person can play here, against bots")
    chosen = [rival] * len(document["players"])
    chosen[seat - 1] = PERSON
    bots, secrets = seated_in(document, chosen, settings)
    foreign = load_protocol(game.name).options
    options = {key: value for key, value in document["options"].items() if key not in foreign}
    start = position(game, document, turn)
    isolation = Isolation(settings.sandbox)
    spec = MatchSpec("page", game.name, bots, read_seed(form), options, start, isolation)
    return WantedMatch(spec, ANSWER_PACE, secrets, tuple(chosen))


def seated_in(
    document: Document, chosen: Sequence[str], settings: SiteSettings
) -> tuple[tuple[BotSpec, ...], Secrets]:
    """Return who was chosen for each seat of a replay, and their secrets by name."""
    play_options = load_play_options(document["game"])
    bots: list[BotSpec] = []
    secrets: dict[str, Mapping[str, str]] = {}
    for told, choice in zip(document["players"], chosen, strict=True):
        bot = seated(document["game"], play_options, choice, settings)
        bots.append(msgspec.structs.replace(bot, name=name_in(told["player"], bot.name, bots)))
        secrets[bots[-1].name] = settings.secrets.get(bot.name, {})
    return tuple(bots), secrets


def playable(document: Document) -> Game:
    """Return the game of a replay; raise UsageError for one that people cannot play on."""
    game = load_game(document["game"])
    if load_play_options(game.name).moves is None:
        raise UsageError(f"{game.name} is not played by hand")
    if document["rules"] != game.version:
        raise UsageError(
            f"the match was played by version {document['rules']} of the rules, which are"
            f" {game.version} here"
        )
    return game


def name_in(player: Any, name: str, others: list[BotSpec]) -> str:
    """Return how a bot is named: where the state of a game names its players, as it does."""
    return player if isinstance(player, str) else free_name(name, others)


def position(game: Game, document: Document, turn: int) -> Any:
    """Return the document of the state after so many turns; raise UsageError for the end."""
    try:
        state = next(islice(states(game, document), turn, None))
    except RecursionError:
        raise UsageError("the replay is nested too deeply") from None
    if game.rules.outcome(state) is not None:
        raise UsageError(f"the match is over in turn {turn}: play on from an earlier one")
    return game.codec.state_to_json(state)


def read_number(form: Mapping[str, str], name: str, least: int, most: int) -> int:
    """Return a number of the form; raise UsageError for one that is not in its range."""
    said = form.get(name, "")
    if NUMBER.fullmatch(said) and least <= int(said) <= most:
        return int(said)
    raise UsageError(f"{name} must be a number from {least} to {most}, not {said[:60]!r}")
