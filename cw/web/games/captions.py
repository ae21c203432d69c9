"""What the viewer tells of turns that it cannot read itself: scores, and moves in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from cw.errors import ProtocolError, UsageError
from cw.games.codec import Game, is_fault
from cw.games.registry import load_game, load_picture, load_play_options
from cw.games.rules import Json
from cw.pictures.scenes import scenes
from cw.replays.document import Document
from cw.visible import visible

LONGEST_WORDS: Final = 140
SIZE: Final = (960, 96)


class Captions(msgspec.Struct, frozen=True):
    """The scores and the words of some turns."""

    unit: str
    """What the scores count, in the plural; "" for a game that shows none."""
    scores: list[list[int]]
    """After each turn, by seat; none without a unit."""
    words: list[dict[str, str]]
    """What each player did in each turn, as the game calls it; nothing where it has no words."""


def captions_of(
    game: str, document: Document, frames: Iterable[Json], turns: Sequence[int]
) -> Captions:
    """Return the captions of some turns, in ascending order.

    Raises ProtocolError for frames that cannot be read.
    """
    picture = load_picture(game)
    unit = picture.counted[1]
    drawn = scenes(picture, document, frames, turns, SIZE) if unit else ()
    scores = [[int(score) for score in picture.scores(scene)] for scene in drawn]
    words = load_play_options(game).words
    actions = [document["turns"][turn - 1]["actions"] if turn else {} for turn in turns]
    return Captions(unit, scores, [worded(each, words) for each in actions])


def worded(actions: Mapping[str, Json], words: Callable[[Json], str] | None) -> dict[str, str]:
    """Return actions in the words of their game; those that it has no words for are left out."""
    named = {player: words_for(action, words) for player, action in actions.items()}
    return {player: visible(text[:LONGEST_WORDS]) for player, text in named.items() if text}


def words_for(action: Json, words: Callable[[Json], str] | None) -> str:
    """Return an action in the words of its game, "" if it has none for it."""
    if words is None or is_fault(action):
        return ""
    # They are code of others, made for the actions that it offers; bots send any.
    try:
        return str(words(action))
    except Exception:
        return ""


def frames_seen_by(game: str, frames: Iterable[Json], player: str) -> Iterator[Json]:
    """Yield frames with nothing that the rules hide from a player.

    Raises UsageError for a player or a game of which that cannot be told: then nothing is shown.
    """
    rules = load_game(game)
    for frame in frames:
        yield None if frame is None else frame_seen_by(rules, frame, player)


def frame_seen_by(game: Game, frame: Json, player: str) -> Json:
    """Return a frame as a player sees it; raise UsageError if that cannot be told."""
    try:
        state = state_of(game, frame)
        names = {str(one): one for one in game.rules.players(state)}
        return game.codec.view_to_json(game.rules.observe(state, names[player]))
    # Rules of others that meet a state which never was may raise anything.
    except Exception:
        raise UsageError("what this player sees cannot be drawn") from None


def state_of(game: Game, frame: Json) -> Any:
    """Return the state of a frame: all that the referee sees of it."""
    try:
        return game.codec.state_from_json(frame)
    except ProtocolError:
        read: Any = getattr(game.codec, "view_from_json", None)
        if read is None:
            raise
        return read(frame)
