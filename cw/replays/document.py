"""Replay v1: a match as one JSON document, enough to render it and to play it again."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final

import msgspec

from cw import documents
from cw.arena.bots import without_folder
from cw.arena.referee import MatchRecord
from cw.errors import FaultKind, ProtocolError
from cw.games.codec import Game, numbered_name
from cw.games.registry import load_game
from cw.games.rules import Fault, Json, Player
from cw.games.wire import CONTAINERS, DEEPEST, is_deep
from cw.replays.json_diff import difference, patched

COLUMNS: Final = "@"
"""The only key of a table."""

LONGEST_NAME: Final = 64
"""Maximum characters of a column's name, since it is repeated in every object of the table."""


def to_columns(document: Json) -> Json:
    """Return a document with its lists of similar objects as tables; None if it has a key `@`.

    >>> to_columns([{"row": 1, "col": 2}, {"row": 3, "col": 4}])
    {'@': {'row': [1, 3], 'col': [2, 4]}}
    """
    try:
        return _to_columns(document)
    except ProtocolError:
        return None


def _to_columns(document: Json) -> Json:
    if isinstance(document, dict):
        if COLUMNS in document:
            raise ProtocolError(f"the document has a member {COLUMNS!r} of its own")
        return {key: _to_columns(value) for key, value in document.items()}
    if not isinstance(document, list):
        return document
    if len(document) > 1 and all(isinstance(item, dict) and item for item in document):
        keys = list(document[0])
        if all(map(is_name, keys)) and all(list(item) == keys for item in document):
            return {COLUMNS: {key: [_to_columns(item[key]) for item in document] for key in keys}}
    return [_to_columns(item) for item in document]


def from_columns(document: Json) -> Json:
    """Return a document with its tables turned back into lists of objects.

    Raises ProtocolError for an invalid table.
    """
    if isinstance(document, list):
        # Columns hold thousands of numbers, which are passed on without a call for each.
        return [from_columns(item) if isinstance(item, CONTAINERS) else item for item in document]
    if not isinstance(document, dict):
        return document
    if set(document) != {COLUMNS}:
        return {key: from_columns(value) for key, value in document.items()}
    columns = document[COLUMNS]
    if not isinstance(columns, dict) or not all(
        isinstance(item, list) for item in columns.values()
    ):
        raise ProtocolError("a table must be an object of lists")
    if not all(map(is_name, columns)):
        raise ProtocolError(f"the names of columns must have at most {LONGEST_NAME} characters")
    if len({len(item) for item in columns.values()}) != 1:
        raise ProtocolError("the columns of a table must be equally long")
    rows = zip(*(from_columns(column) for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def is_name(key: str) -> bool:
    """Return whether a key can be the name of a column."""
    return key != COLUMNS and len(key) <= LONGEST_NAME


VERSION: Final = 1
LARGEST: Final = 256 * 1024 * 1024
"""Maximum bytes of a replay to read, unpacked."""

DEEPEST_REPLAY: Final = DEEPEST + 20
"""Maximum nesting of values: a reply, and what surrounds it."""

KEYS: Final[Mapping[str, type]] = {
    "version": int,
    "date": str,
    "rules": int,
    "game": str,
    "options": dict,
    "seed": int,
    "players": list,
    "start": dict,
    "frame": dict,
    "turns": list,
    "result": dict,
    "faults": list,
    "hash": str,
}
"""The members of a replay."""

POSITION: Final = "position"
"""Value of the member `from` if a match starts with a given position."""

PLAYED_AGAIN: Final = ("version", "rules", "game", "options", "seed", "from", "start", "result")
"""Members covered by the hash, in addition to the actions; `from` may be missing."""

Document = dict[str, Any]


class PlayerEntry(msgspec.Struct, frozen=True):
    """A player in a replay."""

    player: Player
    name: str
    bot: str = ""


class FaultEntry(msgspec.Struct, frozen=True):
    """A fault in a replay."""

    turn: int
    player: Player
    kind: FaultKind
    detail: str


class VisibleMembers(msgspec.Struct, frozen=True):
    """The members of a replay that are displayed unchanged."""

    players: tuple[PlayerEntry, ...]
    faults: tuple[FaultEntry, ...]


class Recorder:
    """Follows a match and records its frames: what the referee sees, turn by turn."""

    def __init__(self) -> None:
        """Create a recorder; its first call receives the start."""
        self.first: Json = None
        self.latest: Json = None
        self.turns: list[dict[str, Json]] = []
        """The turns as in a replay."""

    def __call__(self, played: MatchRecord) -> None:
        """Record the start or a turn."""
        frame = frame_of(played.game, played.state)
        if self.first is None:
            self.first = frame
        else:
            self.turns.append(turn_document(played, difference(self.latest, frame)))
        self.latest = frame


def turn_document(played: MatchRecord, patch: Json) -> dict[str, Json]:
    """Return the latest turn: the actions, the times, and the changes in the frame."""
    turn = played.turns[-1]
    return {
        "actions": actions_document(played.game, turn.actions),
        "ms": {str(player): round(s * 1000, 3) for player, s in turn.seconds.items()},
        "frame": patch,
    }


def frame_of(game: Game, state: Any) -> Json:
    """Return the frame of a state, from which it is rendered: everything the referee sees."""
    return game.codec.view_to_json(game.rules.observe(state, None))


def replay_of(played: MatchRecord, recorder: Recorder, date: str) -> Document:
    """Return the replay of a match so far; `date` is its date, in UTC as ISO 8601."""
    document: Document = {
        "version": VERSION,
        "date": date,
        "rules": played.game.version,
        "game": played.game.name,
        "options": {
            name: without_folder(value) if isinstance(value, str) else value
            for name, value in played.options.items()
        },
        "seed": played.seed,
        "players": [
            {"player": player, "name": bot.name, "bot": bot.public}
            for player, bot in played.bots.items()
        ],
        # Otherwise left out, so that the hashes of older replays do not change.
        **({"from": POSITION} if played.from_position else {}),
        "start": None if played.start is None else played.game.codec.state_to_json(played.start),
        "frame": recorder.first,
        "turns": list(recorder.turns),
        **ending_of(played),
    }
    return document | {"hash": digest(document)}


def ending_of(played: MatchRecord) -> Document:
    """Return how a match ended, as far as known: its result so far, and the faults."""
    return {
        "result": result_of(played),
        "faults": [noted.to_json() for noted in played.faults],
    }


def actions_document(game: Game, actions: Mapping[Player, Any]) -> dict[str, Json]:
    """Return the actions and faults of a turn by player."""
    return {str(player): action_document(game, action) for player, action in actions.items()}


def action_document(game: Game, action: Any) -> Json:
    """Convert an action or a fault to JSON."""
    return action.to_json() if isinstance(action, Fault) else game.codec.action_to_json(action)


def result_of(played: MatchRecord) -> dict[str, Json]:
    """Return how the match ended."""
    if played.stopped is not None:
        return {"outcome": played.stopped.to_json()}
    return dict(played.game.codec.result_to_json(played.state))


def digest(document: Document) -> str:
    """Return the hash of everything that determines the course of a match, and of its result."""
    members: Document = {key: document[key] for key in PLAYED_AGAIN if key in document}
    members["actions"] = [turn["actions"] for turn in document["turns"]]
    # Deterministic order: the hash must not depend on how a program orders members.
    return sha256(msgspec.json.encode(members, order="deterministic")).hexdigest()


def with_names(document: Document, names: Mapping[str, str]) -> Document:
    """Return a replay with its bots renamed; `names` maps old names to new ones.

    Names are not part of what a replay proves.
    """
    players = [
        {**player, "name": names.get(player["name"], player["name"])}
        for player in document["players"]
    ]
    return {**document, "players": players}


def encode(document: Document, *, packed: bool) -> bytes:
    """Return the bytes of a replay file, gzipped if `packed`."""
    turns = [in_file(turn) for turn in document["turns"]]
    data = msgspec.json.encode(document | {"turns": turns}) + b"\n"
    # Without a time stamp, the same replay gives the same file.
    return gzip.compress(data, mtime=0) if packed else data


def decode(data: bytes) -> Document:
    """Parse the bytes of a replay file, packed or not; raise ProtocolError if invalid.

    >>> from cw.notebook import play
    >>> document = play("paint", "builtin:random", "builtin:still", seed=1, turns=2).document
    >>> decode(encode(document, packed=True)) == document
    True
    """
    return parse(unpacked(data))


def parse(data: bytes) -> Document:
    """Parse the JSON of a replay; raise ProtocolError if invalid."""
    return checked(parsed(data))


def parsed(data: bytes) -> Json:
    """Parse any JSON; raise ProtocolError if invalid."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"the replay is not JSON: {error}") from None


def checked(document: Json) -> Document:
    """Return a replay, its turns converted from file form; raise ProtocolError if invalid."""
    if not isinstance(document, dict):
        raise ProtocolError("a replay must be a JSON object")
    for key, kind in KEYS.items():
        if type(document.get(key)) is not kind:
            raise ProtocolError(f"a replay's {key!r} must be of type {kind.__name__}")
    if document["version"] != VERSION:
        raise ProtocolError(f"this is replay version {document['version']}, expected {VERSION}")
    if is_deep_replay(document):
        raise ProtocolError(f"the replay is nested more than {DEEPEST_REPLAY} times")
    try:
        documents.convert(document, VisibleMembers)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"the replay cannot be read: {error}") from None
    document["turns"] = [from_file(turn, n) for n, turn in enumerate(document["turns"])]
    return document


def is_deep_replay(document: Json) -> bool:
    """Return whether the values of a replay are nested too deeply."""
    return is_deep(document, DEEPEST_REPLAY)


def in_file(turn: Mapping[str, Json]) -> dict[str, Json]:
    """Return a turn as stored in a file: its actions as tables, if possible."""
    tables = to_columns(turn["actions"])
    if tables is None or tables == turn["actions"]:
        return dict(turn)
    return {"tables": tables} | {key: value for key, value in turn.items() if key != "actions"}


def from_file(turn: Json, number: int) -> dict[str, Json]:
    """Convert a turn from its form in a file."""
    if not isinstance(turn, dict):
        raise ProtocolError(f"turn {number} must be an object")
    members = {key: value for key, value in turn.items() if key != "tables"}
    if "tables" in turn:
        members["actions"] = from_columns(turn["tables"])
    if not isinstance(members.get("actions"), dict):
        raise ProtocolError(f"turn {number} must have actions")
    return members


def unpacked(data: bytes, largest: int = LARGEST) -> bytes:
    """Unpack gzip; raise ProtocolError above `largest` bytes."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        unpacker = zlib.decompressobj(wbits=31)
        content = unpacker.decompress(data, largest)
    except zlib.error as error:
        raise ProtocolError(f"the replay cannot be decompressed: {error}") from None
    if unpacker.unconsumed_tail:
        raise ProtocolError(f"the replay is larger than {largest} bytes")
    return content


def frames(document: Document) -> Iterator[Json]:
    """Yield all frames, the start first, without playing anything again."""
    frame = document["frame"]
    yield frame
    for number, turn in enumerate(document["turns"]):
        try:
            frame = patched(frame, turn.get("frame"))
        except ProtocolError as error:
            raise ProtocolError(f"frame of turn {number + 1}: {error}") from None
        except RecursionError:
            raise ProtocolError(f"frame of turn {number + 1}: nested too deeply") from None
        yield frame


def states(game: Game, document: Document) -> Iterator[Any]:
    """Replay a match by the rules; yield all states, the start first."""
    options = {**document["options"], "seed": document["seed"]}
    state = game.codec.state_from_json(document["start"], **options)
    yield state
    for turn in document["turns"]:
        state = game.rules.step(state, game.codec.actions_from_json(state, turn["actions"]))
        yield state


def public_replay(
    document: Document, names: Sequence[str], readers: Collection[str] = ()
) -> Document:
    """Return a replay without bot URLs, latencies and fault messages, its hash recomputed.

    The messages may name a host; authorised users can read them on the match page. `readers` are
    the players it is made for, as keys of actions: messages about themselves stay.
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
    """Return whether the JSON of an action is a fault."""
    return isinstance(action, dict) and "fault" in action
