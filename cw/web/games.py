"""Game pages: the list of games, an introduction to each, its rules, and its images."""

from __future__ import annotations

import inspect
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import cycle, pairwise
from math import ceil
from pathlib import PurePosixPath
from random import Random
from threading import Lock
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
    send_file,
    url_for,
)
from markdown_it.token import Token
from markupsafe import Markup
from werkzeug.routing import BaseConverter

from cw import documents
from cw.assets import asset
from cw.drawing import STILL, Sheet
from cw.errors import CapacityError, UsageError
from cw.games.registry import (
    game_entries,
    game_entry,
    installed_games,
    load_game,
    load_picture,
    load_play_options,
    load_strategies,
    load_strategy,
)
from cw.games.rules import Json, Player, Strategy
from cw.kits import LANGUAGES, languages_of
from cw.pictures.exports import scenes
from cw.pictures.sheets import board_sheet
from cw.pictures.svg import svg
from cw.replays.document import actions_document, frame_of
from cw.server.guard import refuse_other_sites
from cw.web.documents import MARKDOWN, Heading, anchor_headings, inline, link_to, rendered, sections
from cw.web.frames import (
    KINDS,
    Window,
    captions_in,
    drawn_window,
    file_of,
    game_title,
    text_of,
    viewer_file,
    viewer_games,
)
from cw.web.live_matches import form_seats
from cw.web.settings import LARGEST_WINDOW, revalidated

SHORT: Final = "in-short"
"""The anchor of the section that summarizes the rules in a list."""

FACTS: Final = ("Players:", "Bots:")
"""The bold lead-ins of list items that are not rules."""


@dataclass(frozen=True, slots=True)
class GamePage:
    """The contents of a game's pages; empty where its document has no such part."""

    title: str
    """The name of the game."""
    heading: str
    """The title of its rules."""
    about: Markup
    """What the game is about: the first paragraph, without its `<p>` element."""
    players: Markup
    bots: Markup
    short: tuple[Markup, ...]
    """The summary of the rules, one item per rule."""
    rules: Markup
    """The whole document except its title."""
    contents: tuple[Heading, ...]


def game_page(game: str) -> GamePage:
    """Read a game's document; a game without one has only a name."""
    return page_from(text_of(game), game)


@lru_cache(maxsize=64)
def page_from(text: str, game: str) -> GamePage:
    """Render a document as HTML, once per version of its text."""
    tokens = MARKDOWN.parse(text)
    anchor_headings(tokens)
    link_to(tokens, partial(place_of, game=game))
    heading, body = tokens[1].content, tokens[3:]
    items = [split(item) for item in items_of(body, SHORT)]
    facts = {lead: words for lead, words in items if lead in FACTS}
    players, bots = (facts.get(fact, Markup()) for fact in FACTS)
    return GamePage(
        title=heading.partition(":")[0],
        heading=heading,
        about=rendered(body[1:2]) if body and body[0].type == "paragraph_open" else Markup(),
        players=players,
        bots=bots,
        short=tuple(words for lead, words in items if lead not in FACTS),
        rules=rendered(body),
        contents=tuple(sections(body)),
    )


def place_of(target: str, game: str) -> str | None:
    """Return the URL for a link in a game's document, or None if it has no page here."""
    if target.startswith(("http://", "https://")):
        return target
    file, _, anchor = target.partition("#")
    if file == "../strategies.md" and anchor in game_entries():
        return url_for("games.about", game=anchor, _anchor="strategies")
    other = PurePosixPath(file).stem.replace("_", "-") if file else game
    if file not in ("", f"{other.replace('-', '_')}.md") or other not in game_entries():
        return None
    return url_for("games.rules", game=other, _anchor=anchor or None)


def items_of(tokens: Sequence[Token], section: str) -> Iterator[Token]:
    """Yield the text of each item in a section's list."""
    inside = False
    for token, words in pairwise(tokens):
        if token.type == "heading_open":
            inside = token.attrGet("id") == section
        if inside and token.type == "paragraph_open" and token.hidden:
            yield words


def split(item: Token) -> tuple[str, Markup]:
    """Split a list item into its bold lead-in ("" if it has none) and the rest."""
    words = item.children or []
    # The parser puts an empty text before bold text.
    begun = [token for token in words if token.type != "text" or token.content]
    if len(begun) < 3 or begun[0].type != "strong_open":
        return "", rendered([item])
    return begun[1].content, inline(begun[3:])


LONGEST: Final = 2.0
"""Maximum duration of the sample match, in seconds."""

MOST_TURNS: Final = 200
CARD: Final = 640 / 400
"""The width of a card's image divided by its height."""

FEWEST: Final = 2
SEED: Final = 1
PROGRESS: Final = 0.6
"""The fraction of the match after which the position is shown."""


@dataclass(frozen=True, slots=True)
class SampleMatch:
    """A match, as far as it was played."""

    players: Sequence[Player]
    frames: Sequence[Json]
    turns: Sequence[Mapping[str, Json]]


@lru_cache(maxsize=128)
def sample_picture(game: str) -> bytes:
    """Return an SVG image of a position, cached; raise an ArenaError if that fails."""
    match = sample_match(game)
    last = round(PROGRESS * len(match.turns))
    players = [{"player": player, "name": str(player)} for player in match.players]
    document = {"players": players, "turns": match.turns}
    picture = replace(load_picture(game), dark=True)
    [scene] = scenes(picture, document, iter(match.frames), [last], STILL)
    return svg(as_card(board_sheet(scene)))


def as_card(sheet: Sheet) -> Sheet:
    """Return a sheet with the proportions of a card and the board centred."""
    width = max(sheet.width, ceil(sheet.height * CARD))
    height = max(sheet.height, ceil(sheet.width / CARD))
    right, down = (width - sheet.width) / 2, (height - sheet.height) / 2
    parts = tuple(replace(part, x=part.x + right, y=part.y + down) for part in sheet.parts)
    return replace(sheet, width=width, height=height, parts=parts)


def sample_match(game_name: str) -> SampleMatch:
    """Play a match, and stop early if it takes too long."""
    game = load_game(game_name)
    rules = game.rules
    number = min(max(rules.seats.start, FEWEST), rules.seats.stop - 1)
    state = rules.new(number, SEED)
    players = rules.players(state)
    seats = seated(game_name, players)
    frames, turns = [frame_of(game, state)], list[Mapping[str, Json]]()
    until = time.monotonic() + LONGEST
    while rules.outcome(state) is None and len(turns) < MOST_TURNS and time.monotonic() < until:
        actions = {one: seats[one].act(rules.observe(state, one)) for one in rules.to_move(state)}
        state = rules.step(state, actions)
        frames.append(frame_of(game, state))
        turns.append({"actions": actions_document(game, actions)})
    return SampleMatch(players, frames, turns)


def seated(game: str, players: Sequence[Player]) -> dict[Player, Strategy[Any, Any]]:
    """Return a strategy for each player, starting with those that pages offer first."""
    names = cycle(load_play_options(game).strategies)
    return {
        player: load_strategy(game, name)(player, Random(SEED))
        for player, name in zip(players, names, strict=False)
    }


routes = Blueprint("games", __name__, url_prefix="/games")

LANGUAGE: Final = "python"
"""The language of the kit that a game's page shows first."""

DRAWING: Final = Lock()
"""Serialises drawing, which keeps a core busy for some time."""

PATIENCE: Final = 1.0
"""Maximum time that a request waits for this lock, in seconds."""


class GameConverter(BaseConverter):
    """The name of a game in a URL."""

    regex = "[A-Za-z0-9._-]{1,64}"


@routes.get("/")
def index() -> Response:
    """Render the list of all games."""
    pages = {game: game_page(game) for game in game_entries()}
    pictures = {game: picture(game) for game in pages}
    return revalidated(
        render_template("games.html", pages=pages, pictures=pictures, packages=packages())
    )


@routes.get("/<game:game>/")
def about(game: str) -> Response:
    """Render a game's introduction, and how to write a bot for it."""
    _find(game)
    page = render_template(
        "game.html",
        game=game,
        page=game_page(game),
        picture=picture(game),
        package=packages().get(game),
        strategies=strategies(game),
        others=form_seats(game).numbers[0] - 1,
        languages=languages_of(game),
        language=LANGUAGE,
        bot=LANGUAGES[LANGUAGE].bot,
        checked=game_entry(game).has_checks,
        clients=game_entry(game).has_clients,
    )
    return revalidated(page)


@routes.get("/<game:game>/rules")
def rules(game: str) -> Response:
    """Render a game's rules, from its document."""
    _find(game)
    page = game_page(game)
    if not page.rules:
        abort(404, f"this server has no page with the rules of {game!r}")
    return revalidated(render_template("rules.html", game=game, page=page))


def strategies(game: str) -> dict[str, str]:
    """Return a one-sentence description of each built-in strategy, weakest first."""
    texts = {
        name: inspect.getdoc(strategy) or "" for name, strategy in load_strategies(game).items()
    }
    return {name: text.partition("\n")[0] for name, text in texts.items()}


@routes.app_template_global("picture_of")
def picture(game: str) -> str:
    """Return the URL of a game's image: a static file, or one from the game's package."""
    name = f"games/{game}.png"
    return url_for("static", filename=name) if is_ours(name) else url_for("games.card", game=game)


@lru_cache
def is_ours(name: str) -> bool:
    """Return whether a static file exists; cached, as they do not change while a process runs."""
    return (asset("static") / name).is_file()


def packages() -> dict[str, str]:
    """Return the package name and version of each game from another package."""
    return {game.name: f"{game.package} {game.version}" for game in installed_games()}


@routes.get("/<game:game>/card")
def card(game: str) -> Response:
    """Return the image for a game from another package: its own, or a position from a match."""
    _find(game)
    file = file_of(game, "card.png")
    if file is not None:
        return send_file(file, "image/png", max_age=0)
    answer = Response(sample_picture(game), content_type="image/svg+xml")
    answer.set_etag(f"{zlib.crc32(sample_picture(game)):x}")
    answer.headers["Cache-Control"] = "no-cache"
    answer.make_conditional(request)
    return answer


@routes.get("/<game:game>/viewer/<path:name>")
def viewer_part(game: str, name: str) -> Response:
    """Return a viewer file from a game's package."""
    file = viewer_file(game, name)
    if file is None:
        abort(404, f"the viewer of {game!r} has no such file")
    return send_file(file, KINDS[file.suffix], max_age=0)


@routes.post("/<game:game>/frames")
def frames(game: str) -> Response:
    """Draw frames for the viewer, as SVG or as text, or return their captions; 503 while busy."""
    refuse_other_sites()
    _find(game)
    request.max_content_length = LARGEST_WINDOW
    try:
        window = documents.decode(request.get_data(cache=False), Window)
    except msgspec.DecodeError as error:
        raise UsageError(f"the frames cannot be read: {error}") from None
    if not DRAWING.acquire(timeout=PATIENCE):
        raise CapacityError("the server is drawing other frames: try again")
    try:
        if window.captions:
            return jsonify(msgspec.to_builtins(captions_in(game, window)))
        return jsonify(drawn=drawn_window(game, window))
    finally:
        DRAWING.release()


routes.add_app_template_global(game_title, "game_title")


@routes.app_template_global("game_part")
def game_part(game: str) -> Markup:
    """Return what the site adds to a game's page: nothing, unless it has registered a function."""
    part: Callable[[str], Markup] | None = current_app.extensions.get("game_part")
    return Markup() if part is None else part(game)


@routes.app_template_global("viewer_games")
def _viewer_games() -> dict[str, dict[str, Json]]:
    return viewer_games(f"{request.script_root}/games/{{}}/")


def _find(game: str) -> None:
    if game not in game_entries():
        abort(404, f"there is no game {game!r}; the games are: {', '.join(game_entries())}")
