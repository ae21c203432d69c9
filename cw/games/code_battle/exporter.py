"""Exports the states of a match in Code Battle's own replay format (`cw replay export --game`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cw.games.code_battle.codec import CodeBattleCodec
from cw.games.code_battle.rules import CodeBattle
from cw.games.code_battle.rules.start import choose_map
from cw.games.code_battle.rules.state import Slot, State
from cw.games.rules import Fault, Json
from cw.games.wire import Credit, Credits, compact

VERSION = 1


def export(
    document: Mapping[str, Any], states: Sequence[State], attribution: Credits | None = None
) -> bytes:
    """Return the file of a match, given its replay document and all its states, the start first.

    `attribution` holds a site's names; without it, ids are made up for the match and its bots.
    """
    attribution = attribution or made_up(document)
    return compact(
        {
            "version": VERSION,
            "match_id": attribution.match_id,
            "date": document["date"],
            "seed": document["seed"],
            "players": [
                {"bot_id": credit.bot_id, "name": player["name"], "owner": credit.owner}
                for credit, player in zip(attribution.players, document["players"], strict=True)
            ],
            "result": result(states),
            "config": states[0].config._asdict(),
            "map": map_document(states[0], map_id(document)),
            "turns": list(turns(document, states)),
        }
    )


def made_up(document: Mapping[str, Any]) -> Credits:
    """Make up ids for a match that was not played on a site, and for its bots."""
    players = [
        Credit(f"b_{number:08x}", player["name"])
        for number, player in enumerate(document["players"])
    ]
    return Credits("m_" + str(document["hash"])[:8], players)


def result(states: Sequence[State]) -> dict[str, Json]:
    """Return the member `result`: how the match ended."""
    last = states[-1]
    outcome: dict[str, Json] = CodeBattleCodec(CodeBattle()).result_to_json(last)["outcome"]
    crashed = [stats.crashed for stats in last.stats]
    return outcome | {"turns": last.turn, "crashed": crashed}


def map_id(document: Mapping[str, Any]) -> str:
    """Return the id of the map that a match names, or that its seed selects from the library."""
    options = document["options"]
    if "map" in options:
        return str(options["map"])
    return choose_map(len(document["players"]), document["seed"], options).map_id


def map_document(state: State, map_id: str) -> dict[str, Json]:
    """Return the member `map`: the map at the start of the match."""
    cols = state.config.cols
    return {
        "map_id": map_id,
        "walls": [list(divmod(tile, cols)) for tile in state.terrain.walls],
        "energy_nodes": [list(divmod(node.tile, cols)) for node in state.nodes],
        "cores": [
            {"pos": list(divmod(core.tile, cols)), "owner": core.owner} for core in state.cores
        ],
    }


def turns(document: Mapping[str, Any], states: Sequence[State]) -> Iterator[dict[str, Json]]:
    """Yield the events of every turn, with `faults` by slot if there were any."""
    for turn, state in zip(document["turns"], states[1:], strict=True):
        faults = {
            slot: action["fault"]
            for slot, action in turn["actions"].items()
            if isinstance(action, dict) and Fault.from_json(action)
        }
        yield turn_document(state) | ({"faults": faults} if faults else {})


def turn_document(state: State) -> dict[str, Json]:
    """Return the events of the turn that produced a state."""
    cols, events = state.config.cols, state.events

    def at(tile: int) -> list[int]:
        return list(divmod(tile, cols))

    def by_slot(tiles: Mapping[Slot, Sequence[int]]) -> dict[str, Json]:
        return {str(slot): [at(tile) for tile in tiles[slot]] for slot in sorted(tiles)}

    return {
        "moves": {
            str(slot): [{"from": at(tile), "dir": way} for tile, way in events.moves[slot]]
            for slot in sorted(events.moves)
        },
        "deaths": [[*at(death.tile), death.owner] for death in state.dead],
        "captures": [[*at(c.tile), c.by, c.owner] for c in events.captures],
        "energy_collected": by_slot(events.collected),
        "energy_destroyed": [at(tile) for tile in events.destroyed],
        "spawns": [[*at(tile), owner] for tile, owner in events.spawns],
        "energy_spawned": [at(tile) for tile in events.energized],
        "scores": [stats.score for stats in state.stats],
    }
