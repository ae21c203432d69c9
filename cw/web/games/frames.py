"""Frames of games that the viewer cannot draw itself: drawn for it as SVG or as text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from gzip import compress
from math import ceil
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from cw.drawing.scenes import BEFORE, MOST_PLAYERS, STILL, DrawnPlayer, Key
from cw.errors import UsageError
from cw.games.defaults.text import lines_of
from cw.games.registry import GAMES, game_entries, load_picture, load_terminal
from cw.games.rules import Json
from cw.pictures.scenes import scenes
from cw.pictures.sheets import board_sheet
from cw.pictures.svg import svg
from cw.replays.document import Document, frames
from cw.web.games.captions import Captions, captions_of, frames_seen_by
from cw.web.games.game_files import MODULE, drawing_of, viewer_file

MOST_AT_ONCE: Final = 16
"""Most frames that one request may have drawn."""

MOST_SHAPES: Final = 20_000
"""Shapes of one of them."""

MOST_CAPTIONS: Final = 400
"""Most turns of which one request may have the captions."""

MOST_PACKED: Final = 400
"""Most frames in a page without a server; longer matches are sampled."""

LATEST: Final = 100_000
"""The last turn of which a frame is drawn."""


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Some turns of a match, with the frames before them that a picture may need."""

    players: Annotated[list[DrawnPlayer], Meta(min_length=1, max_length=MOST_PLAYERS)]
    first: Annotated[int, Meta(ge=0, le=LATEST)]
    """The turn of the first frame."""
    skip: Annotated[int, Meta(ge=0, le=BEFORE)]
    """How many of the frames only precede those that are wanted."""
    frames: Annotated[list[Json], Meta(min_length=1, max_length=MOST_CAPTIONS + BEFORE)]
    actions: list[dict[str, Json]]
    """What was done in the turn that led to each frame; nothing for the start."""
    dark: bool = False
    player: Key | None = None
    """Whose view is drawn; None for all that there is."""
    captions: bool = False
    """Whether captions are wanted, in the place of drawings."""

    @property
    def wanted(self) -> range:
        """The turns that are wanted."""
        return range(self.first + self.skip, self.first + len(self.frames))

    def document(self) -> Document:
        """Return these turns as a replay, with nothing in those before."""
        earlier: list[Mapping[str, Any]] = [{"actions": {}}] * max(0, self.first - 1)
        turns = [{"actions": done} for done in self.actions]
        players = msgspec.to_builtins(self.players)
        return {"players": players, "turns": earlier + turns[self.first == 0 :]}

    def all_frames(self) -> Iterator[Json]:
        """Yield the frames, with nothing in place of those before."""
        yield from [None] * self.first
        yield from self.frames


def drawn_window(game: str, window: Window) -> list[str]:
    """Draw the turns that are wanted; [] for a game that cannot be drawn.

    Raises UsageError for too much to draw, ProtocolError for frames that cannot be read.
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
    """Return the captions of the turns that are wanted; raise an ArenaError as for drawings."""
    refuse_uneven(window)
    return captions_of(game, window.document(), window.all_frames(), window.wanted)


def refuse_uneven(window: Window) -> None:
    """Raise UsageError unless every frame has its actions, and one is wanted."""
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
    """Return some turns of a match, in ascending order, each as the game is drawn.

    For a player, nothing is drawn that the rules hide from it, nor what others have done.
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
    """Return a replay with the actions of one player alone."""
    own = [
        {"actions": {name: action for name, action in turn["actions"].items() if name == player}}
        for turn in document["turns"]
    ]
    return {**document, "turns": own}


def picture_of(scene: Any) -> str:
    """Return the board of a scene as SVG; raise UsageError if there is too much on it."""
    sheet = board_sheet(scene)
    if sum(len(part.shapes) for part in sheet.parts) > MOST_SHAPES:
        raise UsageError(f"there are more than {MOST_SHAPES} things to draw in turn {scene.turn}")
    return svg(sheet).decode()


def needs_frames(game: str) -> bool:
    """Return whether the viewer shows a game by what the server draws."""
    if game in GAMES or game not in game_entries() or viewer_file(game, MODULE):
        return False
    return drawing_of(game_entries()[game]) is not None


def packed_frames(document: Document) -> str:
    """Return what the viewer needs of a replay that it cannot draw itself, "" for any other.

    It is JSON, packed and in base64: the drawing of some turns, for light and for dark pages and,
    where players do not see everything, also for each player; and the captions of these turns.
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
