"""Archive files of replays, which omit what can be derived from the previous frame.

An archive file is gzipped JSON. It has everything in the arena's replay, and the site's names for
the match and its bots, so that it can also be converted to the game's own format.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from cw import documents
from cw.errors import ArenaError, ProtocolError, UsageError
from cw.games.entry import ShortActions, Shorthand
from cw.games.registry import game_entry, load_exporter, load_game, load_shorthand
from cw.games.rules import Json
from cw.games.wire import Credits
from cw.replays.document import (
    Document,
    encode,
    in_file,
    is_deep_replay,
    parse,
    parsed,
    states,
    unpacked,
)
from cw.replays.json_diff import difference, patched

VERSION: Final = 1

LARGEST: Final = 4 * 1024 * 1024
"""Maximum bytes of an archive file, unpacked: 25 times those of a usual match."""

LARGEST_REPLAY: Final = 64 * 1024 * 1024
"""Maximum bytes of the replay that is restored from it."""

MOST_TURNS: Final = 10_000

NOT_READABLE: Final = (
    UsageError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
)
"""Errors that a shorthand raises for malformed values."""

OTHER_RULES: Final = "This match was played with older rules: it cannot be written in this format."


class ArchiveFile(msgspec.Struct, frozen=True):
    """An archive file; each column has one member per turn."""

    archive: int
    credits: Credits
    head: dict[str, Any]
    """The members of the replay in order, with empty turns."""
    units: list[dict[str, Any]]
    ways: list[dict[str, Any]]
    rest: list[dict[str, Any]]
    """The members of turns other than actions and frame."""
    frames: list[Any]
    """How frames differ from what the game's shorthand expects."""


def archive_file(document: Document, credits_: Credits) -> bytes | None:
    """Return the archive file of a replay that was read from JSON.

    Returns None if the replay is better stored as it is: its game has no shorthand, or the file
    would not reproduce it byte for byte.
    """
    shorthand = load_shorthand(document["game"])
    if shorthand is None or len(document["turns"]) > MOST_TURNS:
        return None
    head = {**document, "turns": []}
    turns = list(short_turns(document, shorthand))
    columns = ([turn[part] for turn in turns] for part in range(4))
    data = msgspec.json.encode(ArchiveFile(VERSION, credits_, head, *columns))
    packed = gzip.compress(data, mtime=0)
    try:
        return packed if arena_replay(packed) == encode(document, packed=False) else None
    except ProtocolError:
        return None


def short_turns(
    document: Document, shorthand: Shorthand
) -> Iterator[tuple[Json, Json, Json, Json]]:
    """Yield the entries of each turn for the four columns."""
    frame = document["frame"]
    for turn in document["turns"]:
        short = shorthand.shorten(frame, turn["actions"])
        expected = shorthand.expected(frame, turn["actions"])
        frame = patched(frame, turn["frame"])
        rest = {key: value for key, value in turn.items() if key not in ("actions", "frame")}
        yield short.units, short.ways, rest, difference(expected, frame)


def arena_replay(data: bytes) -> bytes:
    """Return the arena's replay in an archive file, as JSON.

    Raises ProtocolError if the file is invalid or exceeds a limit.
    """
    return replay_in(read(data))


def own_replay(data: bytes) -> bytes:
    """Return the replay in an archive file in the format of its game, or the arena's.

    Raises ProtocolError as `arena_replay` does, and if the rules have changed since.
    """
    file = read(data)
    whole = replay_in(file)
    if game_entry(file.head["game"]).exporter is None:
        return whole
    document = parse(whole)
    game = load_game(document["game"])
    if document["rules"] != game.version:
        raise ProtocolError(OTHER_RULES)
    try:
        return load_exporter(game.name)(document, list(states(game, document)), file.credits)
    except ArenaError as error:
        raise ProtocolError(f"the rules refuse the archive file: {error}") from None


def read(data: bytes) -> ArchiveFile:
    """Parse an archive file; raise ProtocolError if invalid."""
    content = parsed(unpacked(data, LARGEST))
    if is_deep_replay(content):
        raise ProtocolError("the archive file is nested too deeply")
    try:
        file = documents.convert(content, ArchiveFile)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"the archive file cannot be read: {error}") from None
    if file.archive != VERSION:
        raise ProtocolError(f"this is archive version {file.archive}, expected {VERSION}")
    if len(file.frames) > MOST_TURNS:
        raise ProtocolError(f"the archive file has more than {MOST_TURNS} turns")
    return file


def replay_in(file: ArchiveFile) -> bytes:
    """Return the arena's replay as JSON; raise ProtocolError if that is impossible."""
    turns: list[msgspec.Raw] = []
    size = 0
    try:
        for turn in whole_turns(file):
            turns.append(msgspec.Raw(msgspec.json.encode(in_file(turn))))
            size += len(turns[-1])
            if size > LARGEST_REPLAY:
                raise ProtocolError(f"the replay is larger than {LARGEST_REPLAY} bytes")
    except NOT_READABLE as error:
        raise ProtocolError(f"turn {len(turns)} of the archive file: {error!r}") from None
    return msgspec.json.encode(file.head | {"turns": turns}) + b"\n"


def whole_turns(file: ArchiveFile) -> Iterator[Mapping[str, Json]]:
    """Yield the turns as in the arena's replay."""
    shorthand = load_shorthand(file.head["game"])
    if shorthand is None:
        raise ProtocolError("the game of the archive file has no shorthand")
    frame = file.head["frame"]
    columns = zip(file.units, file.ways, file.rest, file.frames, strict=True)
    for units, ways, rest, change in columns:
        actions = shorthand.lengthen(frame, ShortActions(units, ways))
        after = patched(shorthand.expected(frame, actions), change)
        yield {"actions": actions, **rest, "frame": difference(frame, after)}
        frame = after
