"""Board types of tournaments: each game's defaults, their factors, and their parsing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from cw.errors import UsageError, short
from cw.games.registry import load_game, load_protocol
from cw.league.ladder.boards import BoardSpec
from cw_hub.competitions.tournament.names import clean_name

LONGEST_NAME: Final = 40
"""Maximum length of a board type's name, in characters."""

MOST_BOARDS: Final = 20

BOARDS: Final[Mapping[str, Sequence[Mapping[str, Any]]]] = {
    "hexagon": ({"options": {"size": 3}}, {"options": {"size": 5}}),
    "circuit-wars": ({"name": "Circuit Wars 7", "options": {"size": 7, "openings": 4}},),
    "paint": ({"options": {"board": "square"}}, {"options": {"board": "duel"}}),
    "code-battle": ({"name": "2-player maps", "options": {}},),
    "end-of-codes": ({"options": {"M": 15, "MAX_HP": 5}},),
}
"""Initial board types by game, for tournaments that do not set their own."""

FACTORS: Final[Mapping[str, Mapping[int, int]]] = {"hexagon": {3: 1, 4: 2, 5: 3, 6: 4, 7: 5}}
"""The factor of a board by size, for games whose larger boards are worth more."""

USUAL_SIZE: Final = 5
"""The board size of a game with FACTORS if its options name none."""


def title_of(game: str) -> str:
    """Return the name of a game for people."""
    return game.replace("-", " ").title().replace(" Of ", " of ")


def whole(name: str, value: Any, low: int, high: int) -> int:
    """Return a whole number from low to high; raise UsageError for any other value."""
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name} must be a whole number from {low} to {high}, not {short(value)}")


def read_boards(game: str, documents: Any) -> tuple[BoardSpec, ...]:
    """Return board types; raise UsageError, in the words of the game, if one is invalid.

    A board without a factor gets that of its size, or 1. Factors must grow with the size.
    """
    if not isinstance(documents, list | tuple) or not documents:
        raise UsageError("boards must be a list of boards, such as options = {size = 5}")
    if len(documents) > MOST_BOARDS:
        raise UsageError(f"there may be {MOST_BOARDS} types of boards, not {len(documents)}")
    boards = tuple(read_board(game, document) for document in documents)
    twice = [name for name, count in Counter(board.name for board in boards).items() if count > 1]
    if twice:
        raise UsageError(f"two boards are called {twice[0]}: give each a name")
    check_growth(game, boards)
    return boards


def read_board(game: str, document: Any) -> BoardSpec:
    """Return a board type, validated by starting a game on it."""
    if not isinstance(document, Mapping) or not set(document) <= {"name", "options", "factor"}:
        raise UsageError(f"a board has a name, options and a factor, not {short(document)}")
    options = document.get("options", {})
    if not isinstance(options, Mapping):
        raise UsageError(f"the options of a board must be a table, not {short(options)}")
    name = document.get("name") or board_name(game, options)
    if not isinstance(name, str):
        raise UsageError(f"the name of a board must be a text, not {short(name)}")
    try:
        name = clean_name(name, LONGEST_NAME)
    except UsageError as error:
        raise UsageError(f"the name of a board: {error}") from None
    factor = document.get("factor")
    number = usual_factor(game, options) if factor is None else whole("factor", factor, 1, 1000)
    try_board(game, options)
    return BoardSpec(name, dict(options), number)


def board_name(game: str, options: Mapping[str, Any]) -> str:
    """Return the default name of a board type."""
    return " ".join([title_of(game), *map(str, options.values())])[:LONGEST_NAME]


def size_of(options: Mapping[str, Any]) -> Any:
    """Return the size of a board, which determines its factor."""
    cells = options.get("cells")
    if isinstance(cells, list):
        return (len(cells) + 1) // 2
    return options.get("size", USUAL_SIZE)


def usual_factor(game: str, options: Mapping[str, Any]) -> int:
    """Return the factor of a board by its size; raise UsageError if the size has none."""
    if game not in FACTORS:
        return 1
    factors, size = FACTORS[game], size_of(options)
    if not isinstance(size, int) or size not in factors:
        sizes = ", ".join(map(str, factors))
        raise UsageError(f"size {short(size)} has no factor: sizes with a factor are {sizes}")
    return factors[size]


def check_growth(game: str, boards: Sequence[BoardSpec]) -> None:
    """Raise UsageError unless larger boards of a game with factors have larger factors."""
    if game not in FACTORS:
        return
    factors: dict[int, int] = {}
    for size, factor in sorted((size_of(board.options), board.factor) for board in boards):
        if factors.setdefault(size, factor) != factor:
            raise UsageError(f"size {size} has two factors: {factors[size]} and {factor}")
    for (small, less), (large, more) in pairwise(factors.items()):
        if more <= less:
            raise UsageError(
                f"factors must grow with the size: {small} has {less}, and {large} has {more}"
            )


def try_board(game: str, options: Mapping[str, Any]) -> None:
    """Raise UsageError, in the words of the game, unless a game can start with these options."""
    protocol_options = load_protocol(game).options
    rules = load_game(game).rules
    rule_options = {name: value for name, value in options.items() if name not in protocol_options}
    rules.new(max(2, rules.seats.start), 0, **rule_options)
