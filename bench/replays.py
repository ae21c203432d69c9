"""Benchmark of replay sizes: real matches, plain and packed, vs. replays with every frame whole."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from statistics import mean, median
from time import process_time
from typing import Any, Final, TypeVar

import msgspec

from bench.rows import Effort, Goal, Row
from cw.arena.bots import read_bots
from cw.games.code_battle.exporter import export, made_up
from cw.games.registry import load_game
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec
from cw.replays import document as replays_document
from cw.replays.archive import archive_file, arena_replay

T = TypeVar("T")

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


STORED: Final = Goal("<=", 40, of="ours")
"""In kilobytes: for a match of Code Battle of any map and any built-in strategies, on a hub."""

STRATEGIES: Final = ("random", "gatherer", "rusher", "guardian", "swarm", "hunter", "strategist")
PLAYERS: Final = (2, 3, 4, 6)


def rows(effort: Effort) -> list[Row]:
    """Measure every game, the median of some matches; and how a hub stores Code Battle."""
    usual = [row for game in MATCHES for row in of_game(game, effort.matches - 1)]
    return usual + of_hub(2 * (effort.matches - 1))


def of_hub(matches: int) -> list[Row]:
    """Compare archive files, as a hub stores them, with the two formats that they stand for."""
    figures = [in_archive(varied(number)) for number in range(1, matches + 1)]
    size, plain, packing, writing, opening, reading = map(mean, zip(*figures, strict=True))
    what, theirs = f"code-battle on a hub, mean of {matches}", "both formats, packed"
    return [
        Row("replays", what, size, "KB", theirs, plain, STORED),
        Row("replays", f"{what}: to store", packing, "ms", theirs, writing),
        Row("replays", f"{what}: to open", opening, "ms", "the packed file", reading),
    ]


def varied(number: int) -> replays_document.Document:
    """Play a match of other strategies, of another number of players and on another map."""
    rng = Random(number)
    names = [rng.choice(STRATEGIES) for _ in range(PLAYERS[number % len(PLAYERS)])]
    return match_of("code-battle", names, {}, rng.getrandbits(63))


def in_archive(document: replays_document.Document) -> tuple[float, ...]:
    """Return kilobytes, and milliseconds of a processor to store and to open: ours, then theirs."""
    game, site = load_game("code-battle"), made_up(document)
    data, packing = timed(lambda: archive_file(document, site) or b"")
    both, writing = timed(
        lambda: (
            replays_document.encode(document, packed=True),
            gzip.compress(export(document, list(replays_document.states(game, document)), site)),
        )
    )
    _, opening = timed(lambda: arena_replay(data))
    _, reading = timed(lambda: replays_document.unpacked(both[0]))
    return len(data) / 1000, sum(map(len, both)) / 1000, packing, writing, opening, reading


def timed(step: Callable[[], T]) -> tuple[T, float]:
    """Return what a step gives, and the milliseconds of a processor that it took."""
    start = process_time()
    return step(), (process_time() - start) * 1000


def of_game(game: str, matches: int) -> Iterator[Row]:
    """Return both sizes of the replays of a game."""
    documents = [recorded(game, seed) for seed in range(1, matches + 1)]
    turns = median(len(document["turns"]) for document in documents)
    units = f", {median(map(bots_of, documents)):.0f} bots" if game == "code-battle" else ""
    for packed in (False, True):
        size = partial(replays_document.encode, packed=packed)
        yield Row(
            "replays",
            f"{game}, {turns:.0f} turns{units}, {'packed' if packed else 'plain'}",
            median(len(size(document)) for document in documents) / 1000,
            "KB",
            "every frame whole",
            median(len(size(whole(document))) for document in documents) / 1000,
            GOALS.get((game, packed)),
        )


def recorded(game: str, seed: int) -> replays_document.Document:
    """Play a match and give its replay."""
    return match_of(game, *MATCHES[game], seed)


def match_of(
    game: str, names: Sequence[str], options: Mapping[str, Any], seed: int
) -> replays_document.Document:
    """Play a match of built-in strategies and give its replay, as it is read."""
    bots = read_bots([f"bot{seat}=builtin:{name}" for seat, name in enumerate(names)]).bots
    spec = MatchSpec("bench", game, tuple(bots), seed, dict(options))
    return replays_document.decode(msgspec.json.encode(asyncio.run(run_match(spec)).replay))


def bots_of(document: replays_document.Document) -> float:
    """Return how many bots stood on the map, in the mean of all turns."""
    return mean(len(frame["bots"]) for frame in replays_document.frames(document))


def whole(document: replays_document.Document) -> replays_document.Document:
    """Return a replay whose turns tell the whole frame."""
    frames = list(replays_document.frames(document))[1:]
    turns = [
        turn | {"frame": [frame]} for turn, frame in zip(document["turns"], frames, strict=True)
    ]
    return document | {"turns": turns}
