"""Captions for games that the viewer cannot read itself: scores, and moves in words."""

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
    """Scores and descriptions of some turns."""

    unit: str
    """What the scores count, in the plural; "" for a game that shows none."""
    scores: list[list[int]]
    """After each turn, by seat; empty without a unit."""
    words: list[dict[str, str]]
    """What each player did in each turn, in the game's words; players without any are left out."""


def captions_of(
    game: str, document: Document, frames: Iterable[Json], turns: Sequence[int]
) -> Captions:
    """Return the captions of some turns, in ascending order.

    Raises ProtocolError if a frame cannot be read.
    """
    picture = load_picture(game)
    unit = picture.counted[1]
    drawn = scenes(picture, document, frames, turns, SIZE) if unit else ()
    scores = [[int(score) for score in picture.scores(scene)] for scene in drawn]
    words = load_play_options(game).words
    actions = [document["turns"][turn - 1]["actions"] if turn else {} for turn in turns]
    return Captions(unit, scores, [worded(each, words) for each in actions])


def worded(actions: Mapping[str, Json], words: Callable[[Json], str] | None) -> dict[str, str]:
    """Describe actions in the words of their game; leave out those it has no words for."""
    named = {player: words_for(action, words) for player, action in actions.items()}
    return {player: visible(text[:LONGEST_WORDS]) for player, text in named.items() if text}


def words_for(action: Json, words: Callable[[Json], str] | None) -> str:
    """Describe an action in the words of its game; return "" if it has none."""
    if words is None or is_fault(action):
        return ""
    # Third-party code, written for actions that the game offers; bots may send any other.
    try:
        return str(words(action))
    except Exception:
        return ""


def frames_seen_by(game: str, frames: Iterable[Json], player: str) -> Iterator[Json]:
    """Yield frames without what the rules hide from a player.

    Raises UsageError if that is unknown for this player or game: then nothing is shown.
    """
    rules = load_game(game)
    for frame in frames:
        yield None if frame is None else frame_seen_by(rules, frame, player)


def frame_seen_by(game: Game, frame: Json, player: str) -> Json:
    """Return a frame as a player sees it; raise UsageError if that is unknown."""
    try:
        state = state_of(game, frame)
        names = {str(one): one for one in game.rules.players(state)}
        return game.codec.view_to_json(game.rules.observe(state, names[player]))
    # Third-party rules may raise anything when given a state that never occurred.
    except Exception:
        raise UsageError("what this player sees cannot be drawn") from None


def state_of(game: Game, frame: Json) -> Any:
    """Return the state in a frame, or the referee's view if the frame holds that instead."""
    try:
        return game.codec.state_from_json(frame)
    except ProtocolError:
        read: Any = getattr(game.codec, "view_from_json", None)
        if read is None:
            raise
        return read(frame)
