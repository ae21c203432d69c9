"""The start of a game: round 0, generated from a seed (rule book, "Start")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isqrt
from random import Random
from typing import Any, Final

import numpy as np

from cw.errors import UsageError, choices, short
from cw.games.end_of_codes.state import PlayerState, State
from cw.games.rules import Json

OPTIONS: Final = (
    "gameid", "M", "MAX_HP", "max_creatures", "W", "H", "max_rounds", "connect_timeout", "timeout",
)  # fmt: skip
MOST_PLAYERS: Final = 1000
LARGEST_SEED: Final = 2**31 - 1
LARGEST_ID: Final = 2**63 - 1
"""The largest userid: the columns of creatures have 64 bits."""

USERNAME: Final = re.compile(r"\w{1,64}", re.ASCII)


def genesis(players: Json, seed: int, options: Mapping[str, Json]) -> State:
    """Return round 0; raise UsageError if an option is unknown or invalid.

    Missing values are chosen at random in a fixed order: M, W and H, MAX_HP, then the cells of the
    creatures by ascending id. So the same seed and options always give the same round.
    """
    for name in options:
        if name not in OPTIONS:
            raise UsageError(f"unknown option: {name}; {choices(name, OPTIONS)}")
    entrants = read_players(players)
    check_plain(options)
    number("seed", seed, 0, LARGEST_SEED)
    rng = Random(seed)
    each = options["M"] if "M" in options else rng.randint(100, 199)
    total = len(entrants) * each
    most = options.get("max_creatures", 150_000)
    if total > most:
        raise UsageError(f"too many creatures: N*M = {total}, the limit is {most}")
    width, height = map_size(total, options, rng)
    most_hp = options["MAX_HP"] if "MAX_HP" in options else rng.randint(100, 199)
    cells = draw_cells(total, width, height, rng)
    return State(
        round=0,
        width=width,
        height=height,
        most_hp=most_hp,
        players=entrants,
        ids=np.arange(1, total + 1),
        owners=np.repeat([player.userid for player in entrants], each).astype(np.int64),
        x=np.array([x for x, _ in cells], dtype=np.int64),
        y=np.array([y for _, y in cells], dtype=np.int64),
        hp=np.full(total, most_hp),
        max_rounds=options.get("max_rounds", 10_000),
    )


def read_players(players: Json) -> tuple[PlayerState, ...]:
    """Return the players by ascending userid, from a number or a list of userids and usernames.

    Raises UsageError for a wrong number or entry, and for duplicate ids or names.
    """
    if type(players) is int:
        number("players", players, 0, MOST_PLAYERS)
        players = [{"userid": n, "username": f"player{n}"} for n in range(1, players + 1)]
    if not isinstance(players, list):
        raise UsageError(f"players must be a number or a list, not {short(players)}")
    names: dict[int, str] = {}
    for player in players:
        userid, username = read_player(player)
        if userid in names:
            raise UsageError(f"two players have userid {userid}")
        if username in names.values():
            raise UsageError(f"two players have username {username}")
        names[userid] = username
    return tuple(PlayerState(userid, names[userid], None, None) for userid in sorted(names))


def read_player(player: Json) -> tuple[int, str]:
    """Return the userid and the username of a player; raise UsageError if either is invalid."""
    entry = player if isinstance(player, dict) else {}
    userid, username = entry.get("userid"), entry.get("username")
    if type(userid) is not int or not 1 <= userid <= LARGEST_ID:
        raise UsageError(
            f"userid must be a positive integer of at most 2^63-1, not {short(userid)}"
        )
    if not isinstance(username, str) or not USERNAME.fullmatch(username):
        raise UsageError("username must be 1 to 64 letters, digits or _")
    return userid, username


def check_plain(options: Mapping[str, Json]) -> None:
    """Raise UsageError for the first option out of range, in a fixed order."""
    if "gameid" in options and (type(options["gameid"]) is not int or options["gameid"] < 1):
        raise UsageError("gameid must be a positive integer")
    for name, high in (("M", 1000), ("MAX_HP", 1000), ("max_creatures", 1_000_000)):
        if name in options:
            number(name, options[name], 1, high)
    check_size(options)
    if "max_rounds" in options:
        number("max_rounds", options["max_rounds"], 1, 1_000_000)
    check_seconds(options)


def check_size(options: Mapping[str, Json]) -> None:
    """Raise UsageError unless both W and H are given, or neither."""
    sizes = [name for name in ("W", "H") if name in options]
    if len(sizes) == 1:
        raise UsageError("give both W and H, or neither")
    if any(type(options[name]) is not int or not 1 <= options[name] <= 1000 for name in sizes):
        raise UsageError("W and H must be integers from 1 to 1000")


def check_seconds(options: Mapping[str, Json]) -> None:
    """Raise UsageError unless the time limits are in range and `timeout` is not the smaller one."""
    for name in ("connect_timeout", "timeout"):
        value = options.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= 60:
            raise UsageError(f"{name} must be a number from 0.1 to 60")
    if options.get("timeout", 5) < options.get("connect_timeout", 3):
        raise UsageError("timeout must not be below connect_timeout")


def number(name: str, value: Any, low: int, high: int) -> None:
    """Raise UsageError unless a value is an integer from low to high."""
    if type(value) is not int or not low <= value <= high:
        raise UsageError(f"{name} must be an integer from {low} to {high}")


def map_size(total: int, options: Mapping[str, Json], rng: Random) -> tuple[int, int]:
    """Return the width and the height of the map, at random unless given.

    Both are chosen from one interval between the sides of squares with 3 and 4 cells per creature.
    The interval is open if it then contains an integer, otherwise closed; with few creatures it may
    be empty, and its lower end is used. Raises UsageError if a given size has less than 3 cells per
    creature.
    """
    if "W" in options:
        width, height = options["W"], options["H"]
        if width * height < 3 * total:
            raise UsageError(
                f"the map is too small: W*H = {width * height}, but 3*N*M = {3 * total}"
            )
        return width, height
    low, high = (isqrt(3 * total - 1) + 1 if total else 1), isqrt(4 * total)
    if low + 1 <= high - 1:
        low, high = low + 1, high - 1
    high = max(low, high)
    return rng.randint(low, high), rng.randint(low, high)


def draw_cells(total: int, width: int, height: int, rng: Random) -> list[tuple[int, int]]:
    """Return a distinct random cell for each creature, in the order in which they are chosen."""
    # At most a third of the cells are taken, so few draws are rejected.
    cells: dict[tuple[int, int], None] = {}
    while len(cells) < total:
        cells[rng.randrange(width), rng.randrange(height)] = None
    return list(cells)
