"""Maps of matches: storing the maps that come with games, rotating them, and checking games."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import select, update

from cw.games.registry import (
    GAMES,
    game_entries,
    game_entry,
    games_left_out,
    installed_games,
    load_game,
    load_map_maker,
)
from cw_hub.competitions import service as competitions_service
from cw_hub.operation.doctor import Finding
from cw_hub.operation.settings import HubSettings
from cw_hub.store.database import Database, Session, insert_missing
from cw_hub.store.models import Map

MOST_PLAYERS: Final = 8
"""Maximum number of players for which a game is asked for maps."""


@dataclass(frozen=True, slots=True)
class StoredMap:
    """A game's map, with the content of its file."""

    game: str
    players: int
    facts: dict[str, Any]
    data: bytes

    @property
    def map_id(self) -> str:
        """The name of the map."""
        return str(self.facts["map_id"])

    @property
    def key(self) -> str:
        """The key of its content in the object store."""
        return key_of(self.map_id)


def key_of(map_id: str) -> str:
    """Return the key of a map's content in the object store."""
    return f"maps/{map_id}.json"


def library(game: str) -> Iterator[StoredMap]:
    """Yield the maps that come with a game; none for games without maps."""
    if game_entry(game).maps is None:
        return
    maker = load_map_maker(game)
    for players in numbers_of_players(game):
        for map_ in maker.stored(players):
            yield StoredMap(game, players, maker.facts(map_), maker.encode(map_))


def numbers_of_players(game: str) -> list[int]:
    """Return the numbers of players that a game allows, within the limits for bot matches."""
    return [number for number in load_game(game).rules.seats if 2 <= number <= MOST_PLAYERS]


def stored_names(session: Session, game: str) -> set[str]:
    """Return the names of a game's maps that have a row."""
    return set(session.scalars(select(Map.map_id).where(Map.game == game)))


def put(session: Session, maps: Iterable[StoredMap]) -> None:
    """Create the rows of maps. Idempotent, also when called concurrently; existing rows stay."""
    rows = [
        {
            "map_id": one.map_id,
            "game": one.game,
            "players": one.players,
            "rows": one.facts["rows"],
            "cols": one.facts["cols"],
            "meta": one.facts,
            "sha256": sha256(one.data).hexdigest(),
        }
        for one in maps
    ]
    insert_missing(session, Map, rows)


@dataclass(frozen=True, slots=True)
class FoundMap:
    """The public data of a map."""

    map_id: str
    game: str
    players: int
    rows: int
    cols: int
    facts: Mapping[str, Any]
    sha256: str

    @property
    def key(self) -> str:
        """The key of its content in the object store."""
        return key_of(self.map_id)


def find(session: Session, map_id: str) -> FoundMap | None:
    """Return a map by name, or None."""
    row = session.get(Map, map_id)
    if row is None:
        return None
    about = (row.map_id, row.game, row.players, row.rows, row.cols)
    return FoundMap(*about, row.meta, row.sha256)


def numbers_with_maps(session: Session, game: str) -> tuple[int, ...]:
    """Return the numbers of players for which a game has maps."""
    numbers = select(Map.players).where(Map.game == game).distinct().order_by(Map.players)
    return tuple(session.scalars(numbers))


def last_uses(session: Session, game: str, players: int) -> list[tuple[str, float | None]]:
    """Return a game's maps for a number of players, each with the Unix time of its last use.

    The table is authoritative: to retire a map, delete its row.
    """
    of_game = (Map.game == game, Map.players == players)
    rows = session.execute(select(Map.map_id, Map.last_used_at).where(*of_game))
    return [(name, None if used is None else used.timestamp()) for name, used in rows]


def longest_unused(
    uses: Sequence[tuple[str, float | None]],
) -> Sequence[tuple[str, float | None]]:
    """Return the least recently used half of some maps, never used ones first."""
    ordered = sorted(uses, key=lambda use: (use[1] is not None, use[1] or 0.0, use[0]))
    return ordered[: (len(ordered) + 1) // 2]


def note_use(session: Session, map_id: str, now: datetime) -> None:
    """Record the use of a map. A repeated call updates the time."""
    session.execute(update(Map).where(Map.map_id == map_id).values(last_used_at=now))


def look_at_games(settings: HubSettings) -> Finding:
    """Report games that are played but not installed here, or else the games of other packages."""
    with closing(Database(settings.database)) as database, database.reading() as session:
        everything = competitions_service.everything(session)
    games = game_entries()
    unplayable = [one for one in everything if one.state != "over" and one.game not in games]
    if unplayable:
        names = ", ".join(sorted({one.game for one in unplayable}))
        text = (
            f"this machine plays no matches of {names}: {competitions_service.paths_of(unplayable)}"
        )
        why = " ".join(left.sentence for left in games_left_out() if left.name in names.split(", "))
        advice = why or "install the packages of these games here, or let other workers play them"
        return Finding("games", False, True, text, advice)
    others = [f"{game.name} ({game.package} {game.version})" for game in installed_games()]
    return Finding("games", True, True, ", ".join([f"{len(GAMES)} of the arena", *others]))
