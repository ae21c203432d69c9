"""Replays of whole matches: they can be drawn, played again, and not be changed unnoticed."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from cw.errors import ProtocolError
from cw.games.registry import load_game
from cw.replays import document as replays_document
from cw.replays.verify import verify
from tests.matches.playing import play_match

Match = tuple[str, list[str], dict[str, Any]]

MATCHES: list[Match] = [
    ("code-battle", ["gatherer", "rusher"], {"max_turns": 30, "energy_interval": 2}),
    ("end-of-codes", ["sample", "hunter", "idle"], {"M": 6, "MAX_HP": 2, "max_rounds": 90}),
    ("hexagon", ["greedy", "random"], {"size": 4, "stones": 6}),
    ("paint", ["greedy", "walker", "random"], {"turns": 20, "board": "rocks"}),
]


@pytest.fixture(scope="module", params=MATCHES, ids=[match[0] for match in MATCHES])
def document(request: pytest.FixtureRequest) -> replays_document.Document:
    match: Match = request.param
    game, names, options = match
    bots = [f"builtin:{name}" for name in names]
    return play_match(game, bots, 3, options).replay


def again(document: replays_document.Document) -> replays_document.Document:
    return replays_document.decode(replays_document.encode(document, packed=True))


def verified(document: replays_document.Document) -> str | None:
    return verify(load_game(document["game"]), document)


def test_a_match_is_played_again_as_it_was(document: replays_document.Document) -> None:
    assert verified(again(document)) is None


def test_the_frames_need_no_rules(document: replays_document.Document) -> None:
    game = load_game(document["game"])
    read = again(document)
    frames = list(replays_document.frames(read))
    played = [
        replays_document.frame_of(game, state) for state in replays_document.states(game, read)
    ]
    assert frames == json.loads(json.dumps(played))
    assert len(frames) == len(document["turns"]) + 1


def test_what_was_changed_is_found(document: replays_document.Document) -> None:
    for key, value in (("seed", 4), ("rules", 2), ("result", {"outcome": None})):
        assert "hash" in str(verified(again(document) | {key: value}))
    read = again(document)
    del read["turns"][-1]
    assert "hash" in str(verified(read))


def test_a_frame_that_lies_is_found(document: replays_document.Document) -> None:
    read = again(document)
    read["turns"][1]["frame"] = {}
    assert "the frame after turn 2" in str(verified(read))


def test_a_result_that_lies_is_found(document: replays_document.Document) -> None:
    read = again(document)
    read["result"]["outcome"]["winner"] = "nobody"
    read["hash"] = replays_document.digest(read)
    assert verified(read) == "the result differs from that of the rules"


def test_a_replay_is_the_same_packed_and_plain(document: replays_document.Document) -> None:
    packed = replays_document.encode(document, packed=True)
    assert gzip.decompress(packed) == replays_document.encode(document, packed=False)
    assert packed == replays_document.encode(document, packed=True)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version": 1}',
        b"\x1f\x8b\x08broken",
        gzip.compress(b"nothing", mtime=0),
    ],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_no_replay_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        replays_document.decode(data)


def test_a_bomb_is_refused() -> None:
    with pytest.raises(ProtocolError, match="larger than 1000 bytes"):
        replays_document.unpacked(gzip.compress(b" " * 100_000), 1000)


def test_another_version_is_refused(document: replays_document.Document) -> None:
    data = replays_document.encode(document | {"version": 2}, packed=False)
    with pytest.raises(ProtocolError, match="version 2, expected 1"):
        replays_document.decode(data)
    for key in replays_document.KEYS:
        less = json.loads(replays_document.encode(document, packed=False))
        del less[key]
        with pytest.raises(ProtocolError, match=key):
            replays_document.decode(json.dumps(less).encode())
