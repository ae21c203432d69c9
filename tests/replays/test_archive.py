"""Replays of an archive are short, and give back to the byte what was put in."""

from __future__ import annotations

import gzip
import json
from functools import cache
from random import Random
from typing import Any

import pytest

from cw.errors import ProtocolError
from cw.games.code_battle import exporter
from cw.games.registry import load_game
from cw.games.wire import Credit, Credits
from cw.replays import archive
from cw.replays.archive import LARGEST, MOST_TURNS, archive_file, arena_replay, own_replay
from cw.replays.document import Document, encode, parse, states
from tests.effort import amount
from tests.matches.playing import play_match
from tests.mutations import spoiled

GAME = load_game("code-battle")
CREDITS = Credits("m_00c0ffee", [Credit("b_00000001", "ada"), Credit("b_00000002", "house")])


@cache
def battle() -> Document:
    """Return the replay of a match in which bots collide, die and are made, as it is read."""
    options = {"max_turns": 80, "energy_interval": 1, "spawn_cost": 1}
    return read_again(play_match("code-battle", ["builtin:swarm", "builtin:rusher"], 5, options))


def read_again(result: Any) -> Document:
    return parse(encode(result.replay, packed=False))


def file_of(document: Document) -> bytes:
    data = archive_file(document, CREDITS)
    assert data is not None
    return data


def changed(document: Document, **actions: Any) -> Document:
    """Return a replay in which players have said something else in a turn."""
    turns = [dict(turn) for turn in document["turns"]]
    turns[7]["actions"] = {**turns[7]["actions"], **actions}
    return parse(encode({**document, "turns": turns}, packed=False))


def test_both_formats_come_back_to_the_byte() -> None:
    data = file_of(battle())
    assert arena_replay(data) == encode(battle(), packed=False)
    own = exporter.export(battle(), list(states(GAME, battle())), CREDITS)
    assert own_replay(data) == own
    assert len(data) < (len(encode(battle(), packed=True)) + len(gzip.compress(own))) / 2


ODD: list[Any] = [
    {"fault": "timeout"},
    [],
    ["N"],
    [{"row": 0, "col": 0, "direction": "N"}],
    [{"direction": "N", "row": 0, "col": 0}],
    [{"row": True, "col": 1.0, "direction": "N"}],
    [{"row": 10**30, "col": -1, "direction": "NE", "more": [None]}],
    [{"@": {"row": [1]}}],
]


@pytest.mark.parametrize("action", ODD, ids=str)
def test_whatever_a_bot_has_said_comes_back(action: Any) -> None:
    document = changed(battle(), **{"1": action})
    assert arena_replay(file_of(document)) == encode(document, packed=False)


def test_an_order_for_the_bot_of_another_comes_back() -> None:
    there = battle()["turns"][7]["actions"]["0"]
    document = changed(battle(), **{"1": [*there, *there]})
    assert arena_replay(file_of(document)) == encode(document, packed=False)


def test_what_has_no_shorthand_or_is_too_long_is_not_archived() -> None:
    paint = read_again(play_match("paint", ["builtin:random"] * 2, 1, {"turns": 3}))
    assert archive_file(paint, CREDITS) is None
    turns = battle()["turns"][:1] * (MOST_TURNS + 1)
    assert archive_file({**battle(), "turns": turns}, CREDITS) is None


def test_what_would_not_come_back_is_not_archived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "arena_replay", lambda _: b"something else")
    assert archive_file(battle(), CREDITS) is None


def opened(text: bytes) -> None:
    arena_replay(gzip.compress(text))


def test_a_file_that_grows_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProtocolError, match=f"larger than {LARGEST} bytes"):
        arena_replay(gzip.compress(b" " * (LARGEST + 1)))
    data = file_of(battle())
    monkeypatch.setattr(archive, "LARGEST_REPLAY", 1000)
    with pytest.raises(ProtocolError, match="larger than 1000 bytes"):
        arena_replay(data)
    assert archive_file(battle(), CREDITS) is None


@pytest.mark.parametrize(
    ("member", "value", "problem"),
    [
        ("archive", 2, "archive version 2, expected 1"),
        ("units", [], "turn 0 of the archive file"),
        ("frames", [{}] * (MOST_TURNS + 1), f"more than {MOST_TURNS} turns"),
        ("credits", 1, "cannot be read"),
        ("head", {"game": "paint", "frame": {}}, "no shorthand"),
        ("head", {"game": "code-battle", "frame": {}}, "turn 0 of the archive file"),
        ("head", {"game": "tetris", "frame": {}}, "turn 0 of the archive file"),
        ("head", {}, "turn 0 of the archive file"),
    ],
)
def test_a_broken_file_is_refused(member: str, value: Any, problem: str) -> None:
    document = json.loads(gzip.decompress(file_of(battle())))
    with pytest.raises(ProtocolError, match=problem):
        opened(json.dumps({**document, member: value}).encode())


def test_nearly_right_files_are_refused_or_opened() -> None:
    document = json.loads(gzip.decompress(file_of(battle())))
    short = {
        name: value[:3] if isinstance(value, list) else value for name, value in document.items()
    }
    rng = Random(1)
    for _ in range(amount(100, 300)):
        try:
            opened(spoiled(rng, short))
        except ProtocolError:
            continue


def test_older_rules_give_the_replay_that_is_drawn_and_no_other() -> None:
    data = file_of({**battle(), "rules": 0})
    assert arena_replay(data).startswith(b'{"version":1')
    with pytest.raises(ProtocolError, match="played with older rules"):
        own_replay(data)
