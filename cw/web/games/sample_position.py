"""A position from a match of a game's strategies: the picture of a game that has none."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle
from math import ceil
from random import Random
from typing import Any, Final

from cw.drawing.scenes import STILL
from cw.drawing.shapes import Sheet
from cw.games.registry import load_game, load_picture, load_play_options, load_strategy
from cw.games.rules import Json, Player, Strategy
from cw.pictures.scenes import scenes
from cw.pictures.sheets import board_sheet
from cw.pictures.svg import svg
from cw.replays.document import actions_document, frame_of

LONGEST: Final = 2.0
"""Seconds that the strategies may play."""

MOST_TURNS: Final = 200
CARD: Final = 640 / 400
"""The width of a card's picture divided by its height."""

FEWEST: Final = 2
SEED: Final = 1
PROGRESS: Final = 0.6
"""The share of the match that has been played in the position."""


@dataclass(frozen=True, slots=True)
class SampleMatch:
    """A match as far as it was played."""

    players: Sequence[Player]
    frames: Sequence[Json]
    turns: Sequence[Mapping[str, Json]]


@lru_cache(maxsize=128)
def sample_picture(game: str) -> bytes:
    """Return an SVG picture of a position, cached; raise an ArenaError if that fails."""
    match = sample_match(game)
    last = round(PROGRESS * len(match.turns))
    players = [{"player": player, "name": str(player)} for player in match.players]
    document = {"players": players, "turns": match.turns}
    picture = replace(load_picture(game), dark=True)
    [scene] = scenes(picture, document, iter(match.frames), [last], STILL)
    return svg(as_card(board_sheet(scene)))


def as_card(sheet: Sheet) -> Sheet:
    """Return a sheet in the shape of a card, with the board centred."""
    width = max(sheet.width, ceil(sheet.height * CARD))
    height = max(sheet.height, ceil(sheet.width / CARD))
    right, down = (width - sheet.width) / 2, (height - sheet.height) / 2
    parts = tuple(replace(part, x=part.x + right, y=part.y + down) for part in sheet.parts)
    return replace(sheet, width=width, height=height, parts=parts)


def sample_match(game_name: str) -> SampleMatch:
    """Play a match, stopping early if it takes long."""
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
    """Seat the strategies that pages offer first."""
    names = cycle(load_play_options(game).strategies)
    return {
        player: load_strategy(game, name)(player, Random(SEED))
        for player, name in zip(players, names, strict=False)
    }
