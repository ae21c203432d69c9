"""Matches that others watch in a file while they are played."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cw.arena.bots import BotSpec
from cw.games.registry import load_strategies
from cw.matches import live_file
from cw.matches.live_file import LiveFile, read_live
from cw.matches.progress import MatchProgress
from cw.matches.run import run_match
from cw.matches.spec import MatchSpec
from cw.replays.document import Document
from tests.browser.recorded import MATCHES

OPTIONS: dict[str, dict[str, Any]] = {
    "paint": {"turns": 8},
    "code-battle": {"max_turns": 8},
    "end-of-codes": {"max_rounds": 8},
}


def read(place: Path, after: int | None = None) -> Document:
    document: Document = msgspec.json.decode(msgspec.json.encode(read_live(place, after)))
    return document


def play(game: str, on_turn: Callable[[MatchProgress], None]) -> Document:
    """Play a match of a few turns, and return its replay."""
    strategy = next(iter(load_strategies(game)))
    bots = tuple(BotSpec(name, "builtin", strategy) for name in ("ann", "bob"))
    spec = MatchSpec("m", game, bots, 3, OPTIONS.get(game, {}))
    return asyncio.run(run_match(spec, on_turn=on_turn)).replay


@pytest.mark.parametrize("game", MATCHES)
def test_every_turn_is_told_as_the_replay_has_it(tmp_path: Path, game: str) -> None:
    place = tmp_path / "match.jsonl"
    now = iter(range(100_000))
    file = LiveFile(place, lambda: next(now))
    turns: list[int] = []

    def watch(progress: MatchProgress) -> None:
        file.watch(progress)
        turns.append(len(read(place)["turns"]) if len(turns) < 10 else progress.turns)

    document = play(game, watch)
    live = read(place)
    assert live == document | {"hash": live["hash"], "more": False, "result": live["result"]}
    assert turns[:9] == [*range(min(9, len(turns)))]
    after = len(document["turns"]) - 2
    assert read(place, after)["turns"] == document["turns"][-2:]
    file.close()
    assert read_live(place, None) is None


def test_turns_of_a_moment_share_a_line(tmp_path: Path) -> None:
    place = tmp_path / "match.jsonl"
    now = [0.0]
    file = LiveFile(place, lambda: now[0])

    def watch(progress: MatchProgress) -> None:
        now[0] += live_file.STEADY / 4
        file.watch(progress)

    turns = len(play("paint", watch)["turns"])
    assert len(place.read_bytes().splitlines()) <= 2 + turns // 4
    assert turns - 4 <= len(read(place)["turns"]) <= turns


def test_a_long_match_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "match.jsonl"
    now = iter(range(100_000))
    document = play("paint", LiveFile(place, lambda: next(now)).watch)
    monkeypatch.setattr(live_file, "MOST_BYTES", 500)
    live = read(place)
    turns = live["turns"]
    assert live["more"]
    while (news := read(place, len(turns)))["more"]:
        turns += news["turns"]
    assert turns + news["turns"] == document["turns"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]\n", b"{}\nnull\n", b"\xff\n", b'{"a":1}\n{"a"']
)
def test_what_tells_no_match(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "match.jsonl"
    place.write_bytes(content)
    assert read_live(place, None) is None


def test_a_disk_that_fails_does_not_end_the_match(tmp_path: Path) -> None:
    file = LiveFile(tmp_path / "absent" / "match.jsonl", lambda: 0.0)
    assert play("paint", file.watch)["turns"]
    file.close()


def test_a_match_that_is_too_large_is_told_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "match.jsonl"
    now = iter(range(100_000))
    monkeypatch.setattr(live_file, "LARGEST", 2000)
    play("circuit-wars", LiveFile(place, lambda: next(now)).watch)
    assert 2000 < place.stat().st_size < 4000
