"""States and views of Code Battle as JSON (document, "JSON of a state and of actions")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from cw.errors import ProtocolError, short
from cw.games.code_battle.rules import CodeBattle, Moves, ranking_key
from cw.games.code_battle.state import (
    Bot,
    Config,
    Core,
    Death,
    Node,
    PlayerStats,
    Slot,
    State,
    Terrain,
)
from cw.games.code_battle.torus import Tile
from cw.games.code_battle.vision import View
from cw.games.codec import actions_by_player, is_fault, player_named
from cw.games.rules import Fault, Json, Player

T = TypeVar("T")

LARGEST_SIDE: Final = 1000
LARGEST_NUMBER: Final = 2**63 - 1
LEAST: Final = Config(
    rows=3,
    cols=3,
    max_turns=1,
    vision_radius2=1,
    attack_radius2=1,
    spawn_cost=1,
    energy_interval=1,
)
KEYS: Final = ("config", "turn", "walls", "nodes", "cores", "bots", "players")


class CodeBattleCodec:
    """Writes and reads the documents of Code Battle."""

    def __init__(self, rules: CodeBattle) -> None:
        """Speak of matches by these rules."""
        self.rules = rules

    def state_to_json(self, state: State) -> dict[str, Json]:
        """Return the state as a document."""
        return state_document(state)

    def state_from_json(self, document: Json, **options: Json) -> State:
        """Read a state; of the options, `seed` counts: it numbers the others in views."""
        return read_state(document, options.get("seed", 0))

    def view_to_json(self, view: View | State) -> dict[str, Json]:
        """Return the body of a request without `match_id`; to the referee the state."""
        return state_document(view) if isinstance(view, State) else view_document(view)

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a slot, as a number or as text."""
        return player_named(self.rules.players(state), name)

    def action_to_json(self, action: Moves) -> Moves:
        """Return the list: it is a document already."""
        return action

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Moves | Fault]:
        """Read lists of moves and faults; what the entries of a list say is left to the rules."""
        return actions_by_player(self.rules.players(state), document, read_action)

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the outcome with the final counts by slot."""
        outcome = self.rules.outcome(state)
        if outcome is None:
            return {"outcome": None}
        return {
            "outcome": {
                "winner": outcome.winner,
                "condition": outcome.reason,
                "ranks": list(outcome.ranks.values()),
                "final_scores": [stats.score for stats in state.stats],
                "final_energy": [stats.collected for stats in state.stats],
                "final_bots": [ranking_key(state, slot)[-1] for slot in self.rules.players(state)],
            }
        }


def state_document(state: State) -> dict[str, Json]:
    """Return the state as a document."""
    cols = state.config.cols
    return {
        "config": state.config._asdict(),
        "turn": state.turn,
        "walls": [list(divmod(tile, cols)) for tile in state.terrain.walls],
        "nodes": [
            at(node.tile, cols, energy=node.energy, timer=node.timer) for node in state.nodes
        ],
        "cores": [thing_document(core, cols) for core in state.cores],
        "bots": [thing_document(bot, cols) for bot in state.bots],
        "next_bot_id": state.next_bot_id,
        "players": [stats._asdict() for stats in state.stats],
        "dead": [at(death.tile, cols, owner=death.owner) for death in state.dead],
    }


def at(tile: Tile, cols: int, **more: Json) -> dict[str, Json]:
    """Return an object with a place."""
    return {"row": tile // cols, "col": tile % cols, **more}


def thing_document(thing: Core | Bot, cols: int) -> dict[str, Json]:
    """Return a core or a bot: its id, its place, then the rest."""
    fields = thing._asdict()
    number, tile = fields.pop("id"), fields.pop("tile")
    return {"id": number, **at(tile, cols, **fields)}


def view_document(view: View) -> dict[str, Json]:
    """Return a view as players are told it, but for the id of the match."""
    cols = view.config.cols

    def seen(tile: Tile, **more: Json) -> dict[str, Json]:
        row, col = divmod(tile, cols)
        return {"row": row, "col": col, "position": {"row": row, "col": col}, **more}

    return {
        "turn": view.turn,
        "config": view.config._asdict(),
        "you": {"id": 0, "energy": view.energy, "score": view.score},
        "bots": [seen(tile, owner=owner) for tile, owner in view.bots],
        "energy": [seen(tile) for tile in view.nodes],
        "cores": [seen(core.tile, owner=core.owner, active=core.active) for core in view.cores],
        "walls": [seen(tile) for tile in view.walls],
        "dead": [seen(tile, owner=owner) for tile, owner in view.dead],
    }


def read_state(document: Json, seed: Json = 0) -> State:
    """Read a state; raise ProtocolError that names the place of what is wrong."""
    whole = read_object("state", document)
    for key in KEYS:
        if key not in whole:
            raise ProtocolError(f"the state has no {short(key)}")
    config = read_config(whole["config"])
    slots = read_list("players", whole, read_stats)
    reader = Reader(config, len(slots))
    bots = sorted(read_list("bots", whole, reader.bot))
    state = State(
        config=config,
        terrain=Terrain(config.rows, config.cols, tuple(read_list("walls", whole, reader.wall))),
        turn=read_number("turn", whole["turn"]),
        nodes=tuple(read_list("nodes", whole, reader.node)),
        cores=tuple(read_list("cores", whole, reader.core)),
        bots=tuple(bots),
        next_bot_id=read_number("next_bot_id", whole.get("next_bot_id", next_id(bots))),
        stats=tuple(slots),
        dead=tuple(sorted(read_list("dead", {"dead": []} | whole, reader.death))),
        seed=read_number("seed", seed),
    )
    check_places(state)
    return state


def next_id(bots: list[Bot]) -> int:
    """Return the highest id + 1."""
    return bots[-1].id + 1 if bots else 0


def read_object(place: str, document: Json) -> dict[str, Json]:
    """Return an object back; raise ProtocolError for anything else."""
    if isinstance(document, dict):
        return document
    raise ProtocolError(f"{place} must be an object, not {short(document)}")


def read_list(name: str, document: Mapping[str, Json], read: Callable[[str, Json], T]) -> list[T]:
    """Read each entry of a list, told where it is."""
    entries = document[name]
    if not isinstance(entries, list):
        raise ProtocolError(f"{name} must be a list, not {short(entries)}")
    return [read(f"{name}[{number}]", entry) for number, entry in enumerate(entries)]


def read_number(place: str, value: Json, low: int = 0, high: int = LARGEST_NUMBER) -> int:
    """Read a whole number."""
    if type(value) is int and low <= value <= high:
        return value
    raise ProtocolError(f"{place} must be a whole number from {low} to {high}, not {short(value)}")


def read_flag(place: str, value: Json) -> bool:
    """Read true or false."""
    if isinstance(value, bool):
        return value
    raise ProtocolError(f"{place} must be true or false, not {short(value)}")


def read_config(document: Json) -> Config:
    """Read the seven settings."""
    settings = read_object("config", document)
    highest = {"rows": LARGEST_SIDE, "cols": LARGEST_SIDE}
    return Config(
        **{
            name: read_number(
                f"config.{name}", settings.get(name), low, highest.get(name, LARGEST_NUMBER)
            )
            for name, low in LEAST._asdict().items()
        }
    )


def read_stats(place: str, document: Json) -> PlayerStats:
    """Read the counts of a slot; those that count faults and kills may be left out."""
    counts = {"eliminated": 0, "failures": 0, "crashed": False} | read_object(place, document)
    return PlayerStats(
        energy=read_number(f"{place}.energy", counts.get("energy")),
        collected=read_number(f"{place}.collected", counts.get("collected")),
        score=read_number(f"{place}.score", counts.get("score"), low=-LARGEST_NUMBER),
        eliminated=read_number(f"{place}.eliminated", counts["eliminated"]),
        dominant_turns=read_number(f"{place}.dominant_turns", counts.get("dominant_turns")),
        failures=read_number(f"{place}.failures", counts["failures"]),
        crashed=read_flag(f"{place}.crashed", counts["crashed"]),
    )


class Reader:
    """Reads what lies on a grid and belongs to slots."""

    def __init__(self, config: Config, slots: int) -> None:
        """Know the size of the grid and the number of slots."""
        self.config = config
        self.slots = slots

    def wall(self, place: str, entry: Json) -> Tile:
        """Read `[row, col]`."""
        if not isinstance(entry, list) or len(entry) != 2:
            raise ProtocolError(f"{place} must be [row, col], not {short(entry)}")
        return self.tile(place, {"row": entry[0], "col": entry[1]})

    def tile(self, place: str, entry: Mapping[str, Json]) -> Tile:
        """Read `row` and `col`."""
        row = read_number(f"{place}.row", entry.get("row"), high=self.config.rows - 1)
        return row * self.config.cols + read_number(
            f"{place}.col", entry.get("col"), high=self.config.cols - 1
        )

    def owner(self, place: str, entry: Mapping[str, Json]) -> Slot:
        """Read the slot that something belongs to."""
        return read_number(f"{place}.owner", entry.get("owner"), high=self.slots - 1)

    def node(self, place: str, document: Json) -> Node:
        """Read an energy node."""
        entry = read_object(place, document)
        return Node(
            tile=self.tile(place, entry),
            energy=read_flag(f"{place}.energy", entry.get("energy")),
            timer=read_number(f"{place}.timer", entry.get("timer")),
        )

    def core(self, place: str, document: Json) -> Core:
        """Read a core."""
        entry = read_object(place, document)
        return Core(
            id=read_number(f"{place}.id", entry.get("id")),
            tile=self.tile(place, entry),
            owner=self.owner(place, entry),
            active=read_flag(f"{place}.active", entry.get("active")),
            last_spawn=read_number(f"{place}.last_spawn", entry.get("last_spawn")),
        )

    def bot(self, place: str, document: Json) -> Bot:
        """Read a living bot."""
        entry = read_object(place, document)
        number = read_number(f"{place}.id", entry.get("id"))
        return Bot(number, self.tile(place, entry), self.owner(place, entry))

    def death(self, place: str, document: Json) -> Death:
        """Read where a bot died."""
        entry = read_object(place, document)
        return Death(self.tile(place, entry), self.owner(place, entry))


def check_places(state: State) -> None:
    """Raise ProtocolError where things that exclude each other share a tile or an id."""
    cols = state.config.cols
    things: dict[str, tuple[Any, ...]] = {
        "bots": state.bots,
        "cores": state.cores,
        "nodes": state.nodes,
    }
    for name, entries in things.items():
        tiles = [entry.tile for entry in entries]
        double = first_double(tiles)
        if double is not None:
            raise ProtocolError(f"two {name} on [{double // cols}, {double % cols}]")
        for tile in tiles:
            if tile in state.terrain.blocked:
                raise ProtocolError(
                    f"one of the {name} stands on the wall [{tile // cols}, {tile % cols}]"
                )
    for name in ("bots", "cores"):
        double = first_double([entry.id for entry in things[name]])
        if double is not None:
            raise ProtocolError(f"two {name} have the id {double}")
    if state.next_bot_id < next_id(list(state.bots)):
        raise ProtocolError(f"next_bot_id is {state.next_bot_id}, but a bot has that id or more")


def first_double(values: list[int]) -> int | None:
    """Return the first value that comes a second time."""
    seen: set[int] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def read_action(slot: Player, said: Json) -> list[Json] | Fault:
    """Read the moves of a slot, or its fault."""
    if isinstance(said, list):
        return said
    if is_fault(said):
        return Fault.from_json(said)
    raise ProtocolError(
        f"slot {slot}: actions must be a list of moves or a fault, not {short(said)}"
    )
