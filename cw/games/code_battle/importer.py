"""Imports Code Battle's own replay format, so that the match can be replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from cw.errors import FaultKind, ProtocolError, UsageError
from cw.games.code_battle.maps.library import find_map, is_file
from cw.games.code_battle.maps.symmetry import PLAYERS, RANGES, check_players, whole
from cw.games.code_battle.rules.start import MATCH_OPTIONS, setting
from cw.games.codec import from_json
from cw.games.entry import OwnMatch
from cw.games.rules import Json
from cw.games.wire import Credit, Credits

OURS: Final = frozenset({"version", "players", "config", "map", "turns"})
"""Members that identify a file of this format; the arena's own replays have `game` instead."""

EMPTY_TURN: Final[Mapping[str, Json]] = {
    "moves": {},
    "deaths": [],
    "captures": [],
    "energy_collected": {},
    "energy_destroyed": [],
    "spawns": [],
    "energy_spawned": [],
}
"""A turn without events."""

Number = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=200)]
Tile = tuple[Number, Number]
Slot = Literal["0", "1", "2", "3", "4", "5"]


class WireBot(msgspec.Struct, frozen=True):
    """The player of a slot."""

    name: Text
    bot_id: Text = ""
    owner: Text = ""


class WireConfig(msgspec.Struct, frozen=True):
    """The seven settings of the match."""

    rows: int
    cols: int
    max_turns: int
    vision_radius2: int
    attack_radius2: int
    spawn_cost: int
    energy_interval: int


class WireCore(msgspec.Struct, frozen=True):
    """A core of the map."""

    pos: Tile
    owner: Number


class WireMap(msgspec.Struct, frozen=True):
    """The map."""

    walls: Annotated[list[Tile], Meta(max_length=120 * 120)]
    energy_nodes: Annotated[list[Tile], Meta(max_length=RANGES["energy_nodes"][1])]
    cores: Annotated[list[WireCore], Meta(max_length=PLAYERS[-1] * RANGES["cores_per_player"][1])]
    map_id: Annotated[str, Meta(max_length=200, pattern=r"^[^/\\]*$")] = ""


class WireMove(msgspec.Struct, frozen=True):
    """A step of a bot."""

    origin: Tile = msgspec.field(name="from")
    way: Literal["N", "E", "S", "W"] = msgspec.field(name="dir")


class WireTurn(msgspec.Struct, frozen=True):
    """The inputs of a turn; the rules compute the result."""

    moves: dict[Slot, list[WireMove]] = {}
    faults: dict[Slot, FaultKind] = {}


class WireMatch(msgspec.Struct, frozen=True):
    """A file of the format; missing members are empty."""

    version: Literal[1]
    players: Annotated[list[WireBot], Meta(max_length=PLAYERS[-1])]
    config: WireConfig
    map: WireMap
    turns: Annotated[list[WireTurn], Meta(max_length=MATCH_OPTIONS["max_turns"][2])]
    result: dict[str, Json] | UnsetType = UNSET
    match_id: Text = ""
    date: Text = ""
    seed: Number = 0


def read(document: Json) -> OwnMatch | None:
    """Return the match in a file of this format, or None for another format.

    Raises ProtocolError if a file of this format cannot be played.
    """
    if not isinstance(document, dict) or "game" in document or not document.keys() >= OURS:
        return None
    match: WireMatch = from_json("replay of code-battle", document, WireMatch)
    try:
        options = options_of(match)
    except UsageError as error:
        raise ProtocolError(f"this is not a replay of code-battle: {error}") from None
    return OwnMatch(
        date=match.date,
        seed=match.seed,
        options=options,
        names=[bot.name for bot in match.players],
        credits=Credits(match.match_id, [Credit(bot.bot_id, bot.owner) for bot in match.players]),
        start=start_document(match),
        actions=[actions_of(turn) for turn in match.turns],
        recorded={
            **document,
            "players": [msgspec.structs.asdict(bot) for bot in match.players],
            "turns": list(whole_turns(document["turns"], match)),
        },
    )


def options_of(match: WireMatch) -> dict[str, Json]:
    """Return the options of a match; raise UsageError if the rules do not allow its settings."""
    check_players(len(match.players))
    config = msgspec.structs.asdict(match.config)
    for side in ("rows", "cols"):
        whole(side, config[side])
    settings = {name: setting(name, config) for name in MATCH_OPTIONS}
    changed = {name: value for name, value in settings.items() if value != MATCH_OPTIONS[name][0]}
    return {"map": map_option(match.map.map_id), **changed}


def map_option(map_id: str) -> str:
    """Return the `map` option for a map id; an id outside the library means a map from a file."""
    if is_file(map_id):
        return map_id
    try:
        return find_map(map_id).map_id
    except UsageError:
        return f"{map_id}.json"


def start_document(match: WireMatch) -> dict[str, Json]:
    """Return the JSON of the first state: a bot on each core, and all nodes empty."""
    cores = [(*core.pos, core.owner) for core in match.map.cores]
    owners = [owner for _, _, owner in cores]
    placed = [
        {"id": number, "row": row, "col": col, "owner": owner}
        for number, (row, col, owner) in enumerate(cores)
    ]
    return {
        "config": msgspec.structs.asdict(match.config),
        "turn": 0,
        "walls": [list(tile) for tile in match.map.walls],
        "nodes": [
            {"row": row, "col": col, "energy": False, "timer": 0}
            for row, col in match.map.energy_nodes
        ],
        "cores": [{**core, "active": True, "last_spawn": 0} for core in placed],
        "bots": placed,
        "next_bot_id": len(placed),
        "players": [
            {"energy": 0, "collected": 0, "score": owners.count(slot), "dominant_turns": 0}
            for slot in range(len(match.players))
        ],
        "dead": [],
    }


def actions_of(turn: WireTurn) -> dict[str, Json]:
    """Return the actions of a turn in the form that the codec reads."""
    moves: dict[str, Json] = {
        slot: [
            {"row": move.origin[0], "col": move.origin[1], "direction": move.way} for move in steps
        ]
        for slot, steps in turn.moves.items()
    }
    return moves | {slot: {"fault": kind} for slot, kind in turn.faults.items()}


def whole_turns(turns: Sequence[Mapping[str, Json]], match: WireMatch) -> Iterator[dict[str, Json]]:
    """Yield the turns of a file with exactly the members of the format.

    Missing members become empty; missing scores are copied from the previous turn.
    """
    owners = [core.owner for core in match.map.cores]
    scores: Json = [owners.count(slot) for slot in range(len(match.players))]
    for turn in turns:
        scores = turn.get("scores", scores)
        faults = {"faults": turn["faults"]} if turn.get("faults") else {}
        events = {name: turn.get(name, empty) for name, empty in EMPTY_TURN.items()}
        yield {**events, "scores": scores, **faults}
