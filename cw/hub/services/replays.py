"""Replays as everybody may read them, and where they lie in the object store."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from cw.games.registry import game_entry, load_exporter, load_game
from cw.games.wire import Credits
from cw.replays.document import Document, encode, states
from cw.replays.public import public_replay

OWN_FORMAT: Final = ".json.gz"
ARENA_FORMAT: Final = ".cw.json.gz"
"""How the key of the arena's replay ends, where the game has a format of its own beside it."""


class StoredReplay(NamedTuple):
    """The objects that the replay of one game is stored as."""

    key: str
    """Of the first."""
    objects: tuple[tuple[str, bytes], ...]

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(len(data) for _, data in self.objects)


def replay_key(match_id: str, planned_at: datetime, attempt: int, battle: int = 1) -> str:
    """Return the key of a replay: each attempt has its own, so that none overwrites another."""
    name = match_id
    name += f"-b{battle}" if battle > 1 else ""
    name += f"-{attempt}" if attempt > 1 else ""
    return f"replays/{planned_at:%Y/%m}/{name}{OWN_FORMAT}"


def viewed_key(game: str, key: str) -> str:
    """Return the key of the replay that the viewer draws."""
    if game_entry(game).exporter is None:
        return key
    return objects_of(key)[1]


def objects_of(key: str) -> tuple[str, str]:
    """Return the keys of all objects that a replay may be stored as."""
    return key, key.removesuffix(OWN_FORMAT) + ARENA_FORMAT


def replay_of(key: str) -> tuple[str, str]:
    """Return match and key of the replay that an object is a part of."""
    first = key.removesuffix(ARENA_FORMAT).removesuffix(OWN_FORMAT)
    return first.rpartition("/")[2].partition("-")[0], first + OWN_FORMAT


def stored_replay(
    document: Document, names: Sequence[str], key: str, known: Credits
) -> StoredReplay:
    """Return what is stored of a replay; `names` say who sat at its slots.

    In the format of the game the match and its bots have the names that are `known` of them.
    """
    public = public_replay(document, names)
    game = public["game"]
    objects = [(viewed_key(game, key), encode(public, packed=True))]
    if game_entry(game).exporter is not None:
        played = list(states(load_game(game), public))
        own = load_exporter(game)(public, played, known)
        objects.insert(0, (key, gzip.compress(own, mtime=0)))
    return StoredReplay(key, tuple(objects))
