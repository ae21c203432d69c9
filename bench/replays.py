"""Sizes of replays of real matches, plain and packed, beside those with every frame whole."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial
from statistics import mean, median
from typing import Any, Final

import msgspec

from bench.rows import Effort, Goal, Row
from cw.arena.bots import read_bots
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec
from cw.replays import document as replay

MATCHES: Final[Mapping[str, tuple[tuple[str, ...], Mapping[str, Any]]]] = {
    "circuit-wars": (("safe", "greedy"), {}),
    "code-battle": (("gatherer", "hunter", "guardian", "rusher"), {"max_turns": 500}),
    "end-of-codes": (("hunter", "sample", "sample"), {"M": 50, "MAX_HP": 3, "max_rounds": 200}),
    "hexagon": (("greedy", "random"), {}),
    "paint": (("greedy", "walker"), {}),
}
GOALS: Final = {
    ("code-battle", False): Goal("<=", 500, of="ours"),
    ("code-battle", True): Goal("<=", 80, of="ours"),
}
"""In kilobytes: for 500 turns of 4 players with about 50 bots."""


def rows(effort: Effort) -> list[Row]:
    """Measure every game, the median of some matches."""
    return [row for game in MATCHES for row in of_game(game, effort.matches - 1)]


def of_game(game: str, matches: int) -> Iterator[Row]:
    """Return both sizes of the replays of a game."""
    documents = [recorded(game, seed) for seed in range(1, matches + 1)]
    turns = median(len(document["turns"]) for document in documents)
    units = f", {median(map(bots_of, documents)):.0f} bots" if game == "code-battle" else ""
    for packed in (False, True):
        size = partial(replay.encode, packed=packed)
        yield Row(
            "replays",
            f"{game}, {turns:.0f} turns{units}, {'packed' if packed else 'plain'}",
            median(len(size(document)) for document in documents) / 1000,
            "KB",
            "every frame whole",
            median(len(size(whole(document))) for document in documents) / 1000,
            GOALS.get((game, packed)),
        )


def recorded(game: str, seed: int) -> replay.Document:
    """Play a match and give its replay."""
    names, options = MATCHES[game]
    bots = read_bots([f"bot{seat}=builtin:{name}" for seat, name in enumerate(names)]).bots
    spec = MatchSpec("bench", game, tuple(bots), seed, dict(options))
    return replay.decode(msgspec.json.encode(asyncio.run(run_match(spec)).replay))


def bots_of(document: replay.Document) -> float:
    """Return how many bots stood on the map, in the mean of all turns."""
    return mean(len(frame["bots"]) for frame in replay.frames(document))


def whole(document: replay.Document) -> replay.Document:
    """Return a replay whose turns tell the whole frame."""
    frames = list(replay.frames(document))[1:]
    turns = [
        turn | {"frame": [frame]} for turn, frame in zip(document["turns"], frames, strict=True)
    ]
    return document | {"turns": turns}
