"""Matchmaking for rated matches: bots take turns, and meet opponents of similar strength."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop
from math import floor, log
from random import Random
from typing import Final

HEALTHY: Final = 3600.0
"""Seconds for which a health check stays valid."""

CRASHES: Final = 3
"""Number of consecutive matches with a crash after which a bot must rest."""

CRASH_REST: Final = 1800.0
"""Duration of that rest, in seconds."""

SHAPE: Final = log(5) / log(16)
"""Shape of the Pareto distribution that places four of five opponents within 16 ranks."""

LEAST: Final = 2.0**-53
"""The smallest positive number that can be drawn."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bot that is ready to play; times are Unix seconds."""

    bot_id: str
    owner: str | None
    """None for a house bot."""
    shown_rating: float
    last_match_at: float | None
    """None if it has never played."""
    games_24h: int
    games: Mapping[int, int]
    """Matches played, by number of players; a missing key means 0."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match to be played."""

    seed_bot: str
    slots: tuple[str, ...]
    """The ids of the bots, in seat order."""
    map_id: str | None


def eligible(  # noqa: PLR0913 - as many things decide
    now: float,
    *,
    status: str,
    healthy_at: float | None,
    playing: bool,
    crash_streak: int,
    last_match_at: float | None,
    rest: float = 0.0,
) -> bool:
    """Return whether a bot may be scheduled for a match now."""
    if status != "ACTIVE" or playing or healthy_at is None or now - healthy_at > HEALTHY:
        return False
    if last_match_at is None:
        return True
    rested = now - last_match_at
    return rested >= rest and (crash_streak < CRASHES or rested >= CRASH_REST)


def seed_bot(pool: Collection[Candidate], *, house: bool = False) -> Candidate | None:
    """Return the bot whose turn it is, the one with the least recent last match, or None.

    House bots serve only as opponents, unless `house` is true.
    """
    asking = (candidate for candidate in pool if house or candidate.owner is not None)
    return min(
        asking,
        key=lambda candidate: (longest_ago(candidate.last_match_at), candidate.bot_id),
        default=None,
    )


def longest_ago(moment: float | None) -> float:
    """Return a sort key: bots without a match come first, then the least recent ones."""
    return float("-inf") if moment is None else moment


def distance(u: float) -> int:
    """Return the maximum rank distance of an opponent, for a number drawn from (0, 1]."""
    # Inverse transform sampling of a Pareto distribution: mostly neighbours, occasionally a bot far
    # away, so that ratings stay connected.
    ranks: float = max(u, LEAST) ** (-1 / SHAPE)
    return floor(ranks)


def pair(
    pool: Collection[Candidate],
    met: Mapping[str, float],
    maps: Mapping[int, Sequence[tuple[str, float | None]] | None],
    rng: Random,
    *,
    same_owner: bool = False,
) -> Pairing | None:
    """Return the next match of a pool, or None if no match can be filled.

    `met` has the time when the seed bot met each opponent; `maps` has, for each number of players,
    the maps with the times of their last use, or None if the game has none. Two bots of one owner
    do not meet, unless `same_owner`; house bots do.

    >>> bots = [Candidate(name, name, 1500, None, 0, {}) for name in ("ann", "bob")]
    >>> sorted(pair(bots, {}, {2: None}, Random(1)).slots)
    ['ann', 'bob']
    """
    first = seed_bot(pool)
    return None if first is None else Pool(pool, same_owner=same_owner).pair(first, met, maps, rng)


class Pool:
    """Bots that are ready to play, indexed for matchmaking; bots can only be removed.

    Many matches are made from one pool, so finding each of them must not involve a scan of all
    remaining bots.
    """

    def __init__(self, pool: Collection[Candidate], *, same_owner: bool = False) -> None:
        """Create a pool; the bots may be in any order."""
        self._same_owner = same_owner
        self._there = {candidate.bot_id: candidate for candidate in pool}
        self._places = sorted(map(place_of, pool))
        self._waiting: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
        """Heaps keyed by whether the bots are house bots; removed bots stay in them."""
        for candidate in pool:
            self._waiting[candidate.owner is None].append(
                (longest_ago(candidate.last_match_at), candidate.bot_id)
            )
        for waiting in self._waiting.values():
            heapify(waiting)
        self._owners = Counter(self._owner_of(candidate) for candidate in pool)

    def __getitem__(self, bot_id: str) -> Candidate:
        """Return a bot in the pool."""
        return self._there[bot_id]

    def remove(self, bot_id: str) -> None:
        """Remove a bot from the pool."""
        gone = self._there.pop(bot_id)
        del self._places[bisect_left(self._places, place_of(gone))]
        owner = self._owner_of(gone)
        self._owners[owner] -= 1
        if not self._owners[owner]:
            del self._owners[owner]

    def seed_bot(self, *, house: bool = False) -> Candidate | None:
        """Return the bot whose turn it is; see the function `seed_bot`."""
        first = [
            self._longest_waiting(of_house) for of_house in ((False, True) if house else (False,))
        ]
        place = min((waiting for waiting in first if waiting is not None), default=None)
        return None if place is None else self._there[place[1]]

    def _longest_waiting(self, of_house: bool) -> tuple[float, str] | None:
        waiting = self._waiting[of_house]
        # Lazy deletion: removing from the middle of a heap would cost more than skipping later.
        while waiting and waiting[0][1] not in self._there:
            heappop(waiting)
        return waiting[0] if waiting else None

    def pair(
        self,
        first: Candidate,
        met: Mapping[str, float],
        maps: Mapping[int, Sequence[tuple[str, float | None]] | None],
        rng: Random,
    ) -> Pairing | None:
        """Return the next match of the seed bot `first`, as `pair` does; no bot is removed."""
        players = format_of(first, maps, len(self._owners))
        if players is None:
            return None
        seats = [first, *self._opponents(first, players - 1, met, rng)]
        # The bot whose turn it is must not always get the first seat.
        rng.shuffle(seats)
        ids = tuple(candidate.bot_id for candidate in seats)
        return Pairing(first.bot_id, ids, next_map(maps[players]))

    def _opponents(
        self, first: Candidate, number: int, met: Mapping[str, float], rng: Random
    ) -> list[Candidate]:
        """Return opponents for a bot: close in rating, and least recently met."""
        owners = {self._owner_of(first)}
        opponents: list[Candidate] = []
        while len(opponents) < number:
            reach = distance(1 - rng.random())
            near = self._near_to(first, reach, owners)
            while not near:
                # Terminates, because `format_of` chose a number of players for which there are
                # enough owners.
                reach *= 2
                near = self._near_to(first, reach, owners)
            candidate = min(
                near,
                key=lambda candidate: (
                    longest_ago(met.get(candidate.bot_id)),
                    candidate.games_24h,
                    candidate.bot_id,
                ),
            )
            opponents.append(candidate)
            owners.add(self._owner_of(candidate))
        return opponents

    def _near_to(
        self, first: Candidate, reach: int, owners: Collection[tuple[str, str]]
    ) -> list[Candidate]:
        """Return the bots within `reach` ranks of `first` that may still be chosen."""
        place = bisect_left(self._places, place_of(first))
        around = self._places[max(place - reach, 0) : place + reach + 1]
        candidates = (self._there[bot_id] for _, bot_id in around if bot_id != first.bot_id)
        return [candidate for candidate in candidates if self._owner_of(candidate) not in owners]

    def _owner_of(self, candidate: Candidate) -> tuple[str, str]:
        return owner_of(candidate, same_owner=self._same_owner)


def place_of(candidate: Candidate) -> tuple[float, str]:
    """Return the key that sorts bots by rating, the strongest first."""
    return -candidate.shown_rating, candidate.bot_id


def owner_of(candidate: Candidate, *, same_owner: bool) -> tuple[str, str]:
    """Return a key that is the same for bots that may not meet each other."""
    if same_owner or candidate.owner is None:
        return "bot", candidate.bot_id
    return "owner", candidate.owner


def format_of(
    first: Candidate,
    maps: Mapping[int, Sequence[tuple[str, float | None]] | None],
    most: int,
) -> int | None:
    """Return the number of players for which a bot has the fewest matches, or None."""
    filled = (
        players
        for players, choices in maps.items()
        if players <= most and (choices is None or choices)
    )
    return min(filled, key=lambda players: (first.games.get(players, 0), players), default=None)


def next_map(maps: Sequence[tuple[str, float | None]] | None) -> str | None:
    """Return the least recently used map, or None if the game has none."""
    if maps is None:
        return None
    return min(maps, key=lambda entry: (longest_ago(entry[1]), entry[0]))[0]
