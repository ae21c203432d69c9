"""The JSON format of Code Battle states and views (rule book, "State and actions as JSON")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from cw.errors import ProtocolError, short
from cw.games.code_battle.rules import CodeBattle, Moves, ranking_key
from cw.games.code_battle.rules.state import (
    Bot,
    Config,
    Core,
    Death,
    Node,
    PlayerStats,
    State,
    Terrain,
    Tile,
)
from cw.games.code_battle.rules.turn import View
from cw.games.codec import actions_by_player, from_json, is_fault, player_named
from cw.games.rules import Fault, Json, Player

Side = Annotated[int, Meta(ge=3, le=1000)]
Positive = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class CodeBattleCodec:
    """Converts Code Battle states, views and actions to and from JSON."""

    def __init__(self, rules: CodeBattle) -> None:
        """Initialize the codec with the rules of the game."""
        self.rules = rules

    def state_to_json(self, state: State) -> dict[str, Json]:
        """Return the state as JSON."""
        return state_document(state)

    def state_from_json(self, document: Json, /, **options: Json) -> State:
        """Read a state; the only option used is `seed`, which numbers the opponents in views."""
        return read_state(document, options.get("seed", 0))

    def view_to_json(self, view: View | State) -> dict[str, Json]:
        """Return the view as in a request, without `match_id`; for the referee, the whole state."""
        return state_document(view) if isinstance(view, State) else view_document(view)

    def player_from_json(self, state: State, name: Json) -> Player:
        """Read a slot given as a number or text."""
        return player_named(self.rules.players(state), name)

    def action_to_json(self, action: Moves) -> Moves:
        """Return the list unchanged: it is already JSON."""
        return action

    def actions_from_json(
        self, state: State, document: Mapping[str, Json]
    ) -> dict[Player, Moves | Fault]:
        """Read lists of moves and faults; the rules check the entries of a list."""
        return actions_by_player(self.rules.players(state), document, read_action)

    def result_to_json(self, state: State) -> dict[str, Json]:
        """Return the outcome with the final scores, energy and bots by slot."""
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
    """Return the state as JSON."""
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
    """Return an object with the position of a tile and further members."""
    return {"row": tile // cols, "col": tile % cols, **more}


def thing_document(piece: Core | Bot, cols: int) -> dict[str, Json]:
    """Return a core or a bot as JSON: its id, its position, then the remaining members."""
    fields = piece._asdict()
    number, tile = fields.pop("id"), fields.pop("tile")
    return {"id": number, **at(tile, cols, **fields)}


def view_document(view: View) -> dict[str, Json]:
    """Return a view as JSON for players, without the match id."""
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


class ConfigDocument(msgspec.Struct, frozen=True):
    """The seven settings of a match."""

    rows: Side
    cols: Side
    max_turns: Positive
    vision_radius2: Positive
    attack_radius2: Positive
    spawn_cost: Positive
    energy_interval: Positive


class NodeDocument(msgspec.Struct, frozen=True):
    """An energy node."""

    row: Count
    col: Count
    energy: bool
    timer: Count


class BotDocument(msgspec.Struct, frozen=True):
    """A living bot."""

    id: Count
    row: Count
    col: Count
    owner: Count


class CoreDocument(msgspec.Struct, frozen=True):
    """A core."""

    id: Count
    row: Count
    col: Count
    owner: Count
    active: bool
    last_spawn: Count


class DeathDocument(msgspec.Struct, frozen=True):
    """The tile where a bot died, and the bot's owner."""

    row: Count
    col: Count
    owner: Count


class StatsDocument(msgspec.Struct, frozen=True):
    """The statistics of a slot; those of faults and kills are optional."""

    energy: Count
    collected: Count
    score: Annotated[int, Meta(ge=1 - 2**63, le=2**63 - 1)]
    dominant_turns: Count
    eliminated: Count = 0
    failures: Count = 0
    crashed: bool = False


class StateDocument(msgspec.Struct, frozen=True):
    """A state; the deaths and the next id are optional."""

    config: ConfigDocument
    turn: Count
    walls: list[tuple[Count, Count]]
    nodes: list[NodeDocument]
    cores: list[CoreDocument]
    bots: list[BotDocument]
    players: list[StatsDocument]
    next_bot_id: Count | None = None
    dead: list[DeathDocument] = []


def read_state(document: Json, seed: Json = 0) -> State:
    """Read a state; raise ProtocolError with the location of an error."""
    payload = from_json("state of code-battle", document, StateDocument)
    check_owners(payload)
    tiles = Tiles(payload.config.rows, payload.config.cols)
    bots = read_bots(payload, tiles)
    state = State(
        config=Config(**asdict(payload.config)),
        terrain=Terrain(tiles.rows, tiles.cols, tuple(tiles.of_walls(payload.walls))),
        turn=payload.turn,
        nodes=read_nodes(payload, tiles),
        cores=read_cores(payload, tiles),
        bots=bots,
        next_bot_id=next_id(bots) if payload.next_bot_id is None else payload.next_bot_id,
        stats=tuple(PlayerStats(**asdict(stats)) for stats in payload.players),
        dead=read_deaths(payload, tiles),
        seed=from_json("seed", seed, Count),
    )
    check_places(state)
    return state


def read_nodes(document: StateDocument, tiles: Tiles) -> tuple[Node, ...]:
    """Return the energy nodes of a state."""
    pairs = zip(document.nodes, tiles.of("nodes", document.nodes), strict=True)
    return tuple(Node(tile, node.energy, node.timer) for node, tile in pairs)


def read_cores(document: StateDocument, tiles: Tiles) -> tuple[Core, ...]:
    """Return the cores of a state."""
    pairs = zip(document.cores, tiles.of("cores", document.cores), strict=True)
    return tuple(
        Core(core.id, tile, core.owner, core.active, core.last_spawn) for core, tile in pairs
    )


def read_bots(document: StateDocument, tiles: Tiles) -> tuple[Bot, ...]:
    """Return the living bots of a state, in ascending id."""
    pairs = zip(document.bots, tiles.of("bots", document.bots), strict=True)
    return tuple(sorted(Bot(bot.id, tile, bot.owner) for bot, tile in pairs))


def read_deaths(document: StateDocument, tiles: Tiles) -> tuple[Death, ...]:
    """Return the deaths of the last turn, sorted."""
    pairs = zip(document.dead, tiles.of("dead", document.dead), strict=True)
    return tuple(sorted(Death(tile, death.owner) for death, tile in pairs))


def next_id(bots: Sequence[Bot]) -> int:
    """Return the id for the next bot: the highest id + 1."""
    return bots[-1].id + 1 if bots else 0


class Placed(Protocol):
    """Anything placed on a tile."""

    @property
    def row(self) -> int:
        """The row."""

    @property
    def col(self) -> int:
        """The column."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Converts positions on a grid to tile numbers."""

    rows: int
    cols: int

    def of(self, name: str, pieces: Sequence[Placed]) -> list[Tile]:
        """Return the tiles of pieces; raise ProtocolError for the first one off the grid."""
        for number, piece in enumerate(pieces):
            self.check(f"{name}[{number}]", piece.row, piece.col)
        return [piece.row * self.cols + piece.col for piece in pieces]

    def of_walls(self, walls: Sequence[tuple[int, int]]) -> list[Tile]:
        """Return the tiles of walls; raise ProtocolError for the first one off the grid."""
        for number, (row, col) in enumerate(walls):
            self.check(f"walls[{number}]", row, col)
        return [row * self.cols + col for row, col in walls]

    def check(self, place: str, row: int, col: int) -> None:
        """Raise ProtocolError for a tile off the grid."""
        for name, value, sides in (("row", row, self.rows), ("col", col, self.cols)):
            if value >= sides:
                raise ProtocolError(f"{place}.{name} must be from 0 to {sides - 1}, not {value}")


def check_owners(document: StateDocument) -> None:
    """Raise ProtocolError for the first piece whose owner is not a slot of the match."""
    owned: Mapping[str, Sequence[BotDocument | CoreDocument | DeathDocument]]
    owned = {"bots": document.bots, "cores": document.cores, "dead": document.dead}
    slots = len(document.players)
    for name, pieces in owned.items():
        for number, piece in enumerate(pieces):
            if piece.owner >= slots:
                raise ProtocolError(
                    f"{name}[{number}].owner must be from 0 to {slots - 1}, not {piece.owner}"
                )


def check_places(state: State) -> None:
    """Raise ProtocolError if pieces that exclude each other share a tile or an id."""
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
    if state.next_bot_id < next_id(state.bots):
        raise ProtocolError(f"next_bot_id is {state.next_bot_id}, but a bot has that id or more")


def first_double(values: list[int]) -> int | None:
    """Return the first repeated value, or None."""
    seen: set[int] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def read_action(slot: Player, value: Json) -> list[Json] | Fault:
    """Read the moves of a slot, or its fault."""
    if isinstance(value, list):
        return value
    if is_fault(value):
        return Fault.from_json(value)
    raise ProtocolError(
        f"slot {slot}: actions must be a list of moves or a fault, not {short(value)}"
    )
