"""Frames of games that the viewer cannot draw itself, drawn here as SVG or as text."""

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
"""Most frames drawn per request."""

MOST_SHAPES: Final = 20_000
"""Most shapes in one frame."""

MOST_CAPTIONS: Final = 400
"""Most turns captioned per request."""

MOST_PACKED: Final = 400
"""Most frames in a page without a server; longer matches are sampled."""

LATEST: Final = 100_000
"""The last turn for which a frame is drawn."""


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Some turns of a match, with the preceding frames that a picture may need."""

    players: Annotated[list[DrawnPlayer], Meta(min_length=1, max_length=MOST_PLAYERS)]
    first: Annotated[int, Meta(ge=0, le=LATEST)]
    """The turn of the first frame."""
    skip: Annotated[int, Meta(ge=0, le=BEFORE)]
    """How many of the frames only precede the wanted ones."""
    frames: Annotated[list[Json], Meta(min_length=1, max_length=MOST_CAPTIONS + BEFORE)]
    actions: list[dict[str, Json]]
    """The actions of the turn that led to each frame; empty for the start."""
    dark: bool = False
    player: Key | None = None
    """Whose view to draw; None for everything."""
    captions: bool = False
    """Whether captions are wanted instead of drawings."""

    @property
    def wanted(self) -> range:
        """The wanted turns."""
        return range(self.first + self.skip, self.first + len(self.frames))

    def document(self) -> Document:
        """Return these turns as a replay, with empty turns before them."""
        earlier: list[Mapping[str, Any]] = [{"actions": {}}] * max(0, self.first - 1)
        turns = [{"actions": done} for done in self.actions]
        players = msgspec.to_builtins(self.players)
        return {"players": players, "turns": earlier + turns[self.first == 0 :]}

    def all_frames(self) -> Iterator[Json]:
        """Yield the frames, with None for each turn before them."""
        yield from [None] * self.first
        yield from self.frames


def drawn_window(game: str, window: Window) -> list[str]:
    """Draw the wanted turns; return [] for a game that cannot be drawn.

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
    """Return the captions of the wanted turns; raise an ArenaError as for drawings."""
    refuse_uneven(window)
    return captions_of(game, window.document(), window.all_frames(), window.wanted)


def refuse_uneven(window: Window) -> None:
    """Raise UsageError unless every frame has its actions, and at least one frame is wanted."""
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

    For a player, leave out what the rules hide from it, and the actions of other players.
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
    """Return the board of a scene as SVG; raise UsageError if it has too many shapes."""
    sheet = board_sheet(scene)
    if sum(len(part.shapes) for part in sheet.parts) > MOST_SHAPES:
        raise UsageError(f"there are more than {MOST_SHAPES} things to draw in turn {scene.turn}")
    return svg(sheet).decode()


def needs_frames(game: str) -> bool:
    """Return whether the viewer relies on drawings of the server for a game."""
    if game in GAMES or game not in game_entries() or viewer_file(game, MODULE):
        return False
    return drawing_of(game_entries()[game]) is not None


def packed_frames(document: Document) -> str:
    """Return the drawings and captions that the viewer needs for a replay, "" if it needs none.

    Gzipped JSON in base64: drawings of some turns, for light and for dark pages and, if players do
    not see everything, for each player as well; and the captions of these turns.
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
