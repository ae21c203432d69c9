"""Replays of real matches for the viewer's tests, made once a run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from cw.replays import document as replays_document
from tests.matches.playing import play_match

MATCHES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "circuit-wars": (("greedy", "safe"), {"size": 5}),
    "code-battle": (("gatherer", "rusher", "hunter"), {"max_turns": 150}),
    "end-of-codes": (("hunter", "sample", "sample"), {"M": 12, "MAX_HP": 3, "max_rounds": 120}),
    "hexagon": (("greedy", "random"), {"size": 4}),
    "paint": (("greedy", "walker"), {"board": "rocks", "turns": 40}),
}


def recorded(game: str) -> replays_document.Document:
    """Give the replay of a match of a game; members may be replaced, and not what they hold."""
    return dict(_played(game))


@cache
def _played(game: str) -> replays_document.Document:
    """Play a match of a game and give its replay."""
    names, options = MATCHES[game]
    bots = [f"bot{seat}=builtin:{name}" for seat, name in enumerate(names)]
    # The thread of a browser's test has an event loop already.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(play_match, game, bots, 3, options).result().replay


def frames(game: str) -> list[Any]:
    """Return all frames of a game's replay, as a reader of its file gets them."""
    document = replays_document.decode(replays_document.encode(recorded(game), packed=False))
    return list(replays_document.frames(document))


def fill(folder: Path) -> None:
    """Put the replays of all games into a folder, some packed and some not."""
    for game in MATCHES:
        packed = game in ("code-battle", "paint")
        ending = ".json.gz" if packed else ".json"
        (folder / f"{game}{ending}").write_bytes(
            replays_document.encode(recorded(game), packed=packed)
        )
