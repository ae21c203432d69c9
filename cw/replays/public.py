"""Replays for everybody: nothing in them says where a bot is."""

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
    """Return a replay without addresses, latencies and sentences of faults, and proven anew.

    Those sentences may name a host; who must know them reads them at the match. `readers` are the
    players for whom it is, as the keys of actions: what is told of themselves stays.
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
    """Return a replay whose players are called by their numbers; its hash is not proven anew."""
    numbered = load_game(document["game"]).conduct.numbered
    players = [
        {**player, "name": numbered_name(player["player"])} for player in document["players"]
    ]
    seen = {key: numbered(document[key]) for key in ("start", "frame") if document[key] is not None}
    return {**document, "players": players, **seen}


def public_turn(turn: Mapping[str, Any], readers: Collection[str] = ()) -> dict[str, Any]:
    """Return a turn without latencies and sentences of faults; its frame stays as it is."""
    return {
        **turn,
        "actions": without_sentences(turn["actions"], readers),
        "ms": {player: ms for player, ms in turn["ms"].items() if player in readers},
    }


def public_fault(fault: Mapping[str, Any], readers: Collection[str] = ()) -> dict[str, Any]:
    """Return a fault without its sentence."""
    return dict(fault) if str(fault["player"]) in readers else {**fault, "detail": ""}


def frame_tells(turn: Mapping[str, Any]) -> bool:
    """Return whether the frame of a turn holds the sentence of a fault in it."""
    sentences = [
        action["error"]
        for action in turn["actions"].values()
        if is_fault(action) and action.get("error")
    ]
    frame = msgspec.json.encode(turn.get("frame")) if sentences else b""
    return any(msgspec.json.encode(sentence) in frame for sentence in sentences)


def redrawn(document: Document) -> list[dict[str, Any]]:
    """Return the turns of a replay with the frames that the rules give to its actions."""
    game = load_game(document["game"])
    frames = [frame_of(game, state) for state in states(game, document)]
    changes = [difference(before, after) for before, after in pairwise(frames)]
    return [
        {**turn, "frame": change} for turn, change in zip(document["turns"], changes, strict=True)
    ]


def without_sentences(actions: Mapping[str, Any], readers: Collection[str]) -> dict[str, Any]:
    """Return the actions of a turn; a fault keeps its kind alone unless its player is a reader."""
    return {
        player: {"fault": action["fault"]} if is_fault(action) and player not in readers else action
        for player, action in actions.items()
    }


def is_fault(action: Any) -> bool:
    """Return whether the document of an action is that of a fault."""
    return isinstance(action, dict) and "fault" in action
