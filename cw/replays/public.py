"""Public replays, which do not reveal where a bot runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from cw.games.codec import numbered_name
from cw.games.registry import load_game
from cw.replays.document import Document, digest, frame_of, states
from cw.replays.json_diff import difference


def public_replay(
    document: Document, names: Sequence[str], readers: Collection[str] = ()
) -> Document:
    """Return a replay without addresses, latencies and fault messages, its hash recomputed.

    The messages may name a host; those entitled to them read them on the page of the match.
    `readers` are the players it is made for, as keys of actions: messages about themselves stay.
    """
    players = [
        {**player, "bot": name} for player, name in zip(document["players"], names, strict=True)
    ]
    turns = [public_turn(turn, readers) for turn in document["turns"]]
    faults = [public_fault(fault, readers) for fault in document["faults"]]
    public = {**document, "players": players, "turns": turns, "faults": faults}
    if any(map(frame_tells, document["turns"])):
        public["turns"] = redrawn(public)
    return {**public, "hash": digest(public)}


def numbered_replay(document: Document) -> Document:
    """Return a replay with numbers for player names; its hash is not recomputed."""
    numbered = load_game(document["game"]).conduct.numbered
    players = [
        {**player, "name": numbered_name(player["player"])} for player in document["players"]
    ]
    seen = {key: numbered(document[key]) for key in ("start", "frame") if document[key] is not None}
    return {**document, "players": players, **seen}


def public_turn(turn: Mapping[str, Any], readers: Collection[str] = ()) -> dict[str, Any]:
    """Return a turn without latencies and fault messages; its frame is unchanged."""
    return {
        **turn,
        "actions": without_sentences(turn["actions"], readers),
        "ms": {player: ms for player, ms in turn["ms"].items() if player in readers},
    }


def public_fault(fault: Mapping[str, Any], readers: Collection[str] = ()) -> dict[str, Any]:
    """Return a fault without its message."""
    return dict(fault) if str(fault["player"]) in readers else {**fault, "detail": ""}


def frame_tells(turn: Mapping[str, Any]) -> bool:
    """Return whether the frame of a turn contains the message of one of its faults."""
    sentences = [
        action["error"]
        for action in turn["actions"].values()
        if is_fault(action) and action.get("error")
    ]
    frame = msgspec.json.encode(turn.get("frame")) if sentences else b""
    return any(msgspec.json.encode(sentence) in frame for sentence in sentences)


def redrawn(document: Document) -> list[dict[str, Any]]:
    """Return the turns of a replay with frames recomputed by the rules."""
    game = load_game(document["game"])
    frames = [frame_of(game, state) for state in states(game, document)]
    changes = [difference(before, after) for before, after in pairwise(frames)]
    return [
        {**turn, "frame": change} for turn, change in zip(document["turns"], changes, strict=True)
    ]


def without_sentences(actions: Mapping[str, Any], readers: Collection[str]) -> dict[str, Any]:
    """Return a turn's actions; faults lose their message unless their player is a reader."""
    return {
        player: {"fault": action["fault"]} if is_fault(action) and player not in readers else action
        for player, action in actions.items()
    }


def is_fault(action: Any) -> bool:
    """Return whether the document of an action is a fault."""
    return isinstance(action, dict) and "fault" in action
