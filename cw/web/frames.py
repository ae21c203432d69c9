"""Frames and captions of replays for their pages, and files of games from other packages.

The folder of such a game may contain `rules.md`, `card.png`, and `viewer/` with `viewer.js` and all
files that it loads. Only files in `viewer/` are served.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from gzip import compress
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from cw.assets import asset
from cw.drawing import BEFORE, MOST_PLAYERS, STILL, DrawnPlayer, Key
from cw.errors import ProtocolError, UsageError, visible
from cw.games.codec import Game, is_fault
from cw.games.defaults import lines_of
from cw.games.entry import GameEntry, files_of
from cw.games.registry import (
    GAMES,
    game_entries,
    installed_games,
    load_endings,
    load_game,
    load_picture,
    load_play_options,
    load_terminal,
)
from cw.games.rules import Json
from cw.pictures.exports import scenes
from cw.pictures.sheets import board_sheet
from cw.pictures.svg import svg
from cw.replays.document import Document, frames

LONGEST_WORDS: Final = 140


class Captions(msgspec.Struct, frozen=True):
    """Scores and descriptions of some turns."""

    unit: str
    """What the scores count, in the plural; "" for a game that shows no scores."""
    scores: list[list[int]]
    """Scores after each turn, by seat; empty without a unit."""
    words: list[dict[str, str]]
    """Each player's action per turn, in the game's words; players without one are left out."""


def captions_of(
    game: str, document: Document, frames: Iterable[Json], turns: Sequence[int]
) -> Captions:
    """Return the captions of some turns, in ascending order.

    Raises ProtocolError if a frame cannot be read.
    """
    picture = load_picture(game)
    unit = picture.counted[1]
    drawn = scenes(picture, document, frames, turns, STILL) if unit else ()
    scores = [[int(score) for score in picture.scores(scene)] for scene in drawn]
    words = load_play_options(game).words
    actions = [document["turns"][turn - 1]["actions"] if turn else {} for turn in turns]
    return Captions(unit, scores, [worded(each, words) for each in actions])


def worded(actions: Mapping[str, Json], words: Callable[[Json], str] | None) -> dict[str, str]:
    """Describe actions in the words of their game; leave out those it cannot describe."""
    named = {player: words_for(action, words) for player, action in actions.items()}
    return {player: visible(text[:LONGEST_WORDS]) for player, text in named.items() if text}


def words_for(action: Json, words: Callable[[Json], str] | None) -> str:
    """Describe an action in the words of its game; return "" if it cannot."""
    if words is None or is_fault(action):
        return ""
    # This is third-party code, written for actions that the game offers; bots may send any others.
    try:
        return str(words(action))
    except Exception:
        return ""


def frames_seen_by(game: str, frames: Iterable[Json], player: str) -> Iterator[Json]:
    """Yield frames without what the rules hide from a player.

    Raises UsageError if the player's view cannot be determined: then nothing is shown.
    """
    rules = load_game(game)
    for frame in frames:
        yield None if frame is None else frame_seen_by(rules, frame, player)


def frame_seen_by(game: Game, frame: Json, player: str) -> Json:
    """Return a frame as a player sees it; raise UsageError if that cannot be determined."""
    try:
        state = state_of(game, frame)
        names = {str(one): one for one in game.rules.players(state)}
        return game.codec.view_to_json(game.rules.observe(state, names[player]))
    # Third-party rules may raise anything when given a state that cannot occur in a match.
    except Exception:
        raise UsageError("what this player sees cannot be drawn") from None


def state_of(game: Game, frame: Json) -> Any:
    """Return the state in a frame, or the referee's view if the frame contains that instead."""
    try:
        return game.codec.state_from_json(frame)
    except ProtocolError:
        read: Any = getattr(game.codec, "view_from_json", None)
        if read is None:
            raise
        return read(frame)


VIEWER: Final = "viewer"
MODULE: Final = "viewer.js"
LARGEST_TEXT: Final = 1024 * 1024
"""Maximum size of a game's rules, in bytes; the rest is not read."""

KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
"""The media types of a viewer's files, by file name suffix."""

Drawing = Literal["svg", "text"]


def file_of(game: str, name: str) -> Path | None:
    """Return the path of a file in a game's folder, or None.

    Also None for a name that leaves the folder, even through a link.
    """
    entry = game_entries().get(game)
    folder = None if entry is None else files_of(entry)
    if folder is None or "\0" in name:
        return None
    root, file = folder.resolve(), (folder / name).resolve()
    return file if file.is_relative_to(root) and file.is_file() else None


def viewer_file(game: str, name: str) -> Path | None:
    """Return a file of a game's viewer that may be served, or None."""
    file = file_of(game, f"{VIEWER}/{name}")
    folder = None if file is None else file_of(game, f"{VIEWER}/{MODULE}")
    is_served = file is not None and folder is not None and file.is_relative_to(folder.parent)
    return file if is_served and file is not None and file.suffix in KINDS else None


def rules_text(game: str) -> str:
    """Return the text of the rules in a game's package, or "" if it has none."""
    file = file_of(game, "rules.md")
    if file is None:
        return ""
    with file.open("rb") as opened:
        return opened.read(LARGEST_TEXT).decode(errors="replace")


def text_of(game: str) -> str:
    """Return a game's document, with a title added if needed; without a document, only a title.

    A game from another package has its document in its folder.
    """
    file: Path = asset("docs") / "games" / f"{game.replace('-', '_')}.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else rules_text(game)
    return text if text.startswith("# ") else f"# {game.replace('-', ' ').title()}\n\n{text}"


def game_title(game: str) -> str:
    """Return the name of a game, as given in its document."""
    heading = text_of(game).partition("\n")[0].removeprefix("# ")
    return heading.partition(":")[0].strip()


def drawing_of(entry: GameEntry) -> Drawing | None:
    """Return how the server draws frames for the viewer: as SVG, as text, or not at all (None)."""
    if entry.picture is not None:
        return "svg"
    return None if entry.terminal is None else "text"


def viewer_games(address: str) -> dict[str, dict[str, Json]]:
    """Return how the viewer shows games of other packages: the texts it uses, and who draws them.

    `address` is the URL of a game's page, with `{}` for its name.
    """
    games: dict[str, dict[str, Json]] = {}
    for game in installed_games():
        endings = load_endings(game.name)
        fields = games[game.name] = {
            "title": game_title(game.name),
            "reasons": dict(endings.reasons),
            "first": endings.first,
        }
        if viewer_file(game.name, MODULE):
            fields["module"] = f"{address.format(game.name)}{VIEWER}/{MODULE}"
        elif kind := drawing_of(game.entry):
            fields |= {"drawing": kind, "frames": f"{address.format(game.name)}frames"}
    return games


MOST_AT_ONCE: Final = 16
"""Maximum number of frames drawn per request."""

MOST_SHAPES: Final = 20_000
"""Maximum number of shapes in one frame."""

MOST_CAPTIONS: Final = 400
"""Maximum number of turns captioned per request."""

MOST_PACKED: Final = 400
"""Maximum number of frames in a page without a server; longer matches are sampled."""

LATEST: Final = 100_000
"""The last turn for which a frame is drawn."""


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Some turns of a match, with the preceding frames that a picture may need."""

    players: Annotated[list[DrawnPlayer], Meta(min_length=1, max_length=MOST_PLAYERS)]
    first: Annotated[int, Meta(ge=0, le=LATEST)]
    """The turn of the first frame."""
    skip: Annotated[int, Meta(ge=0, le=BEFORE)]
    """How many of the frames only precede those to be drawn."""
    frames: Annotated[list[Json], Meta(min_length=1, max_length=MOST_CAPTIONS + BEFORE)]
    actions: list[dict[str, Json]]
    """The actions of the turn that led to each frame; empty for the start."""
    dark: bool = False
    player: Key | None = None
    """Whose view to draw; None for the full view."""
    captions: bool = False
    """Whether captions are requested instead of drawings."""

    @property
    def wanted(self) -> range:
        """The requested turns."""
        return range(self.first + self.skip, self.first + len(self.frames))

    def document(self) -> Document:
        """Return these turns as a replay document, with empty turns before them."""
        earlier: list[Mapping[str, Any]] = [{"actions": {}}] * max(0, self.first - 1)
        turns = [{"actions": done} for done in self.actions]
        players = msgspec.to_builtins(self.players)
        return {"players": players, "turns": earlier + turns[self.first == 0 :]}

    def all_frames(self) -> Iterator[Json]:
        """Yield the frames, with None for each turn before them."""
        yield from [None] * self.first
        yield from self.frames


def drawn_window(game: str, window: Window) -> list[str]:
    """Draw the requested turns; return [] for a game that cannot be drawn.

    Raises UsageError if there is too much to draw, ProtocolError if a frame cannot be read.
    """
    refuse_uneven(window)
    if len(window.wanted) > MOST_AT_ONCE:
        raise UsageError(f"at most {MOST_AT_ONCE} frames are drawn at once")
    return drawn_turns(
        game,
        window.document(),
        window.all_frames(),
        window.wanted,
        dark=window.dark,
        player=None if window.player is None else str(window.player),
    )


def captions_in(game: str, window: Window) -> Captions:
    """Return the captions of the requested turns; raise an ArenaError as for drawings."""
    refuse_uneven(window)
    return captions_of(game, window.document(), window.all_frames(), window.wanted)


def refuse_uneven(window: Window) -> None:
    """Raise UsageError unless every frame has its actions, and at least one frame is requested."""
    if len(window.frames) != len(window.actions) or window.skip >= len(window.frames):
        raise UsageError("actions and frames must be equally many, and more than are skipped")


def drawn_turns(  # noqa: PLR0913 - a replay, which part of it, and for whom
    game: str,
    document: Document,
    all_frames: Iterable[Json],
    turns: Sequence[int],
    *,
    dark: bool,
    player: str | None = None,
) -> list[str]:
    """Draw some turns of a match, in ascending order.

    For a player, leave out what the rules hide from it, and the other players' actions.
    """
    kind = drawing_of(game_entries()[game])
    if player is not None:
        all_frames = frames_seen_by(game, all_frames, player)
        document = document_of(document, player)
    if kind == "text":
        board, wanted = load_terminal(game), frozenset(turns)
        frames = (frame for turn, frame in enumerate(all_frames) if turn in wanted)
        return ["\n".join(line.plain for line in lines_of(board, frame)) for frame in frames]
    if kind is None:
        return []
    picture = load_picture(game)
    picture = replace(picture, dark=dark or picture.dark)
    return [picture_of(scene) for scene in scenes(picture, document, all_frames, turns, STILL)]


def document_of(document: Document, player: str) -> Document:
    """Return a replay with only one player's actions."""
    own = [
        {"actions": {name: action for name, action in turn["actions"].items() if name == player}}
        for turn in document["turns"]
    ]
    return {**document, "turns": own}


def picture_of(scene: Any) -> str:
    """Return a scene's board as SVG; raise UsageError if it has too many shapes."""
    sheet = board_sheet(scene)
    if sum(len(part.shapes) for part in sheet.parts) > MOST_SHAPES:
        raise UsageError(f"there are more than {MOST_SHAPES} things to draw in turn {scene.turn}")
    return svg(sheet).decode()


def needs_frames(game: str) -> bool:
    """Return whether the viewer relies on the server's drawings for a game."""
    if game in GAMES or game not in game_entries() or viewer_file(game, MODULE):
        return False
    return drawing_of(game_entries()[game]) is not None


def packed_frames(document: Document) -> str:
    """Return the drawings and captions that the viewer needs for a replay, "" if it needs none.

    The format is gzipped JSON in base64: drawings of some turns, for light and for dark pages and,
    if players do not see everything, for each player as well; and the captions of these turns.
    """
    game = document["game"]
    if not needs_frames(game):
        return ""
    last = len(document["turns"])
    hides = game_entries()[game].has_hidden_information
    players = [str(seat["player"]) for seat in document["players"]] if hides else []
    most = max(1, MOST_PACKED // (1 + len(players)))
    turns = sorted({*range(0, last, ceil((last + 1) / most)), last})
    drawn = {
        f"{player or ''}{' dark' if dark else ' light'}": drawn_turns(
            game, document, frames(document), turns, dark=dark, player=player
        )
        for player in (None, *players)
        for dark in (False, True)
    }
    captions = captions_of(game, document, frames(document), turns)
    packed = msgspec.json.encode({"turns": turns, "drawn": drawn, "captions": captions})
    return b64encode(compress(packed, mtime=0)).decode()
