"""Replay files in every format: the arena's own, and those of the games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from cw.errors import ArenaError, ProtocolError, short
from cw.games.codec import Game, is_fault
from cw.games.entry import OwnMatch
from cw.games.registry import load_exporter, load_game, load_importers
from cw.games.rules import Json
from cw.replays import document as replays_document
from cw.replays.document import Document, digest, frame_of
from cw.replays.json_diff import difference
from cw.replays.verify import as_read, verify

Part: TypeAlias = tuple[str, int | str]
"""A nested value's path, as named in messages, and its key or index."""


@dataclass(frozen=True, slots=True)
class ReplayFile:
    """A replay file that was read."""

    document: Document
    """The arena's replay of the match.

    It is computed by the rules if the file is in a game's own format.
    """
    own_match: OwnMatch | None = None
    """The contents of a file in a game's own format; None for the arena's."""


def decode(data: bytes) -> ReplayFile:
    """Parse the bytes of a replay file, packed or not, in any format.

    Raises ProtocolError if it is not a replay, or if the rules cannot play it.
    """
    document = replays_document.parsed(replays_document.unpacked(data))
    for name, importer in load_importers().items():
        own_match = importer(document)
        if own_match is not None:
            return ReplayFile(played_again(load_game(name), own_match), own_match)
    return ReplayFile(replays_document.checked(document))


def is_of_a_game(document: Json) -> bool:
    """Return whether the JSON of a file is in a game's own format rather than the arena's.

    Raises ProtocolError if it cannot be played.
    """
    return any(importer(document) is not None for importer in load_importers().values())


def played_again(game: Game, own_match: OwnMatch) -> Document:
    """Return the arena's replay of a match, with frames and result computed by the rules."""
    outline: Document = {
        "version": replays_document.VERSION,
        "date": own_match.date,
        "rules": game.version,
        "game": game.name,
        "options": dict(own_match.options),
        "seed": own_match.seed,
        "players": [],
        "start": own_match.start,
        "turns": [{"actions": dict(actions), "ms": {}} for actions in own_match.actions],
        "faults": list(faults_of(own_match)),
    }
    try:
        states = list(replays_document.states(game, outline))
    except ArenaError as error:
        raise ProtocolError(f"the rules of {game.name} refuse this replay: {error}") from None
    frames = [as_read(frame_of(game, state)) for state in states]
    for turn, (before, after) in zip(outline["turns"], pairwise(frames), strict=True):
        turn["frame"] = difference(before, after)
    # The hash comes last: it covers start, actions and result.
    outline |= {
        "players": [
            {"player": player, "name": name, "bot": ""}
            for player, name in zip(game.rules.players(states[0]), own_match.names, strict=True)
        ],
        "frame": frames[0],
        "result": as_read(game.codec.result_to_json(states[-1])),
    }
    return outline | {"hash": digest(outline)}


def faults_of(own_match: OwnMatch) -> Iterator[dict[str, Json]]:
    """Yield the faults among the actions as the arena records them."""
    for turn, actions in enumerate(own_match.actions):
        for player, action in actions.items():
            if is_fault(action):
                yield {"turn": turn, "player": player, "kind": action["fault"], "detail": ""}


def proven(file: ReplayFile) -> str | None:
    """Return where a file contradicts its options, seed and rules, or None if nowhere.

    Everything except the actions in a game's own format must be what its exporter makes of them.
    """
    game = load_game(file.document["game"])
    problem = verify(game, file.document)
    if problem is not None or file.own_match is None:
        return problem
    states = list(replays_document.states(game, file.document))
    # Proven by writing it again: what the exporter makes of the same actions must match the file.
    written = load_exporter(game.name)(file.document, states, file.own_match.credits)
    return first_difference(file.own_match.recorded, replays_document.parsed(written))


def first_difference(
    recorded: Json, computed: Json, place: str = "", *, optional: int = 2
) -> str | None:
    """Return a message on the first value in a file that differs from what the rules give, or None.

    A file may leave members out, and add some, within its first `optional` levels of objects.
    """
    if isinstance(recorded, Mapping) and isinstance(computed, Mapping):
        keys = recorded.keys() & computed.keys()
        if optional or keys == recorded.keys() | computed.keys():
            parts = [(f"{place}.{key}".lstrip("."), key) for key in computed if key in keys]
            return first_among(recorded, computed, parts, optional=max(0, optional - 1))
    elif (
        isinstance(recorded, list) and isinstance(computed, list) and len(recorded) == len(computed)
    ):
        parts = [(f"{place}[{number}]", number) for number in range(len(computed))]
        return first_among(recorded, computed, parts, optional=0)
    elif type(recorded) is type(computed) and recorded == computed:
        return None
    return f"{place} is {short(recorded)} in the file, and the rules give {short(computed)}"


def first_among(
    recorded: Any, computed: Any, parts: Sequence[Part], *, optional: int
) -> str | None:
    """Return the first difference among the parts of two values."""
    differences = (
        first_difference(recorded[key], computed[key], place, optional=optional)
        for place, key in parts
    )
    return next(filter(None, differences), None)
