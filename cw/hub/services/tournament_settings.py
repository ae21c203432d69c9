"""How tournaments of teams are played: their settings, the defaults of each game, their boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast, get_args

from cw.errors import UsageError, choices, short
from cw.games.registry import load_game, load_protocol, load_strategy
from cw.hub.services.competitions import SINCE
from cw.hub.services.matches import Hosting
from cw.hub.services.team_names import clean_name
from cw.hub.store.tables import BotKind
from cw.league.ladder import Board

FORMAT: Final = "ladder"
"""What competitions of teams are played as."""

HOSTINGS: Final[tuple[Hosting, ...]] = get_args(Hosting)

LONGEST_NAME: Final = 40
"""Characters of the name of a type of boards."""

MOST_BOARDS: Final = 20
POINTS: Final = {"win_higher": 4, "win_lower": 2, "draw_higher": 1, "draw_lower": 0}


@dataclass(frozen=True, slots=True)
class TournamentSettings:
    """How a tournament is played."""

    plan: Literal["pairs", "all"]
    """Whether every two entries meet in a round, or all of them in one match."""
    battles: int
    """Of a match."""
    tiebreak: Literal["none", "score"]
    points: Mapping[str, int]
    """Of a match, by its result and by whether the opponent stood higher."""
    boards: tuple[Board, ...]
    """The first types."""
    hosting: Hosting
    """How programs that teams upload are run."""
    per_bot: int
    """Matches of a bot at once."""
    parallel: int
    """Matches at once."""
    round_every: int
    """Seconds from the start of a round to that of the next; 0: at once."""
    finalists: int
    """Teams of each public group that go to the final."""
    tokens_per_team: int
    training: str
    """The built-in strategy that teams practise with."""
    stores: bool = False
    """Whether the machines of the teams have stores for data between requests."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """How a game is played in tournaments unless they say otherwise."""

    boards: Sequence[Mapping[str, Any]]
    training: str
    kinds: tuple[BotKind, ...] = ("url", "program")
    """Of the bots that teams may have; the first is that of a new team."""
    plan: Literal["pairs", "all"] = "pairs"
    battles: int = 2
    tiebreak: Literal["none", "score"] = "none"
    hosting: Hosting = "off"
    per_bot: int = 1
    size_option: str = ""
    """The option that factors go by, and what they are by its value."""
    usual_size: int = 0
    factors: Mapping[int, int] = field(default_factory=dict)


LADDERS: Final[Mapping[str, Ladder]] = {
    "hexagon": Ladder(
        ({"options": {"size": 3}}, {"options": {"size": 5}}),
        "greedy",
        per_bot=4,
        size_option="size",
        usual_size=5,
        factors={3: 1, 4: 2, 5: 3, 6: 4, 7: 5},
    ),
    "circuit-wars": Ladder(
        ({"name": "Circuit Wars 7", "options": {"size": 7, "openings": 4}},),
        "greedy",
        ("program",),
        tiebreak="score",
        hosting="sandboxed",
        per_bot=2,
    ),
    "paint": Ladder(
        ({"options": {"board": "square"}}, {"options": {"board": "duel"}}),
        "walker",
        ("program",),
        tiebreak="score",
        hosting="sandboxed",
        per_bot=2,
    ),
    "code-battle": Ladder(({"name": "2-player maps", "options": {}},), "gatherer"),
    "end-of-codes": Ladder(({"options": {"M": 15, "MAX_HP": 5}},), "sample", plan="all", battles=1),
}

NUMBERS: Final[Mapping[str, tuple[int, int]]] = {
    "battles": (1, 2),
    "per_bot": (1, 256),
    "parallel": (1, 256),
    "round_every": (0, 7 * 24 * 3600),
    "finalists": (1, 100),
    "tokens_per_team": (1, 6),
}
"""The settings that are whole numbers, each with the lowest and the highest."""

WORDS: Final[Mapping[str, Sequence[str]]] = {
    "plan": ("pairs", "all"),
    "tiebreak": ("none", "score"),
    "hosting": HOSTINGS,
}
"""The settings that are one of some words."""

CHANGEABLE: Final = ("parallel", "per_bot", "round_every", "hosting", "stores")
"""What may change after the start: nothing that a result depends on."""

KNOWN: Final = (*WORDS, *NUMBERS, "points", "boards", "training", "stores")


def ladder_of(game: str) -> Ladder:
    """Return how a game is played in tournaments; raise UsageError for an unknown game."""
    if game in LADDERS:
        return LADDERS[game]
    load_game(game)
    return Ladder(({"name": title_of(game), "options": {}},), "")


def title_of(game: str) -> str:
    """Return the name of a game for people."""
    return game.replace("-", " ").title().replace(" Of ", " of ")


def settings_of(game: str, said: Mapping[str, Any]) -> TournamentSettings:
    """Return how a tournament is played; what its row does not say is the default of its game.

    Raises UsageError, in one sentence, for a setting that is unknown or cannot be.
    """
    own = ladder_of(game)
    given = {name: value for name, value in said.items() if name != SINCE}
    for name in given:
        if name not in KNOWN:
            raise UsageError(f"there is no setting {short(name)}; {choices(str(name), KNOWN)}")
    words = {name: one_word(name, given.get(name, getattr(own, name, None))) for name in WORDS}
    usual = {"battles": own.battles, "per_bot": own.per_bot, "parallel": 8, "round_every": 0}
    usual |= {"finalists": 3, "tokens_per_team": 1}
    numbers = {name: whole(name, given.get(name, usual[name]), *NUMBERS[name]) for name in NUMBERS}
    training, stores = given.get("training", own.training), given.get("stores", False)
    if training:
        load_strategy(game, training if isinstance(training, str) else short(training))
    if not isinstance(stores, bool):
        raise UsageError(f"stores must be true or false, not {short(stores)}")
    if words["plan"] == "pairs" and load_game(game).rules.seats.start > 2:
        raise UsageError(f"{game} is not for two: the plan must be all")
    boards = usual_boards(own, words["plan"]) if "boards" not in given else given["boards"]
    return TournamentSettings(
        **cast(dict[str, Any], words | numbers),
        points=read_points(given.get("points", {})),
        boards=read_boards(game, boards),
        training=training,
        stores=stores,
    )


def usual_boards(own: Ladder, plan: str) -> Sequence[Mapping[str, Any]]:
    """Return the first boards of a game; the plan `all` has none that are for two alone."""
    if plan == "pairs":
        return own.boards
    return [board for board in own.boards if board["options"].get("board") != "duel"]


def one_word(name: str, value: Any) -> str:
    """Return a setting that is one of some words; raise UsageError for another value."""
    if isinstance(value, str) and value in WORDS[name]:
        return value
    raise UsageError(f"{name} must be one of {', '.join(WORDS[name])}, not {short(value)}")


def whole(name: str, value: Any, low: int, high: int) -> int:
    """Return a whole number from low to high; raise UsageError for another value."""
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name} must be a whole number from {low} to {high}, not {short(value)}")


def read_points(said: Any) -> dict[str, int]:
    """Return the points of a match; raise UsageError for what are none."""
    if not isinstance(said, Mapping):
        raise UsageError(f"points must be a table such as win_higher = 4, not {short(said)}")
    for name in said:
        if name not in POINTS:
            raise UsageError(f"there are no points {short(name)}; {choices(str(name), POINTS)}")
    return {name: whole(name, said.get(name, usual), 0, 1000) for name, usual in POINTS.items()}


# Boards


def read_boards(game: str, said: Any) -> tuple[Board, ...]:
    """Return types of boards; raise UsageError, in the words of the game, for one that cannot be.

    Without a factor: that of the game by size, else 1. Explicit ones may not fall as sizes grow.
    """
    if not isinstance(said, list | tuple) or not said:
        raise UsageError("boards must be a list of boards, such as options = {size = 5}")
    if len(said) > MOST_BOARDS:
        raise UsageError(f"there may be {MOST_BOARDS} types of boards, not {len(said)}")
    boards = tuple(read_board(game, one) for one in said)
    twice = [name for name, count in Counter(board.name for board in boards).items() if count > 1]
    if twice:
        raise UsageError(f"two boards are called {twice[0]}: give each a name")
    check_growth(game, boards)
    return boards


def read_board(game: str, said: Any) -> Board:
    """Return a type of boards, which was tried by beginning a game on it."""
    if not isinstance(said, Mapping) or not set(said) <= {"name", "options", "factor"}:
        raise UsageError(f"a board has a name, options and a factor, not {short(said)}")
    options = said.get("options", {})
    if not isinstance(options, Mapping):
        raise UsageError(f"the options of a board must be a table, not {short(options)}")
    name = said.get("name") or board_name(game, options)
    if not isinstance(name, str):
        raise UsageError(f"the name of a board must be a text, not {short(name)}")
    try:
        name = clean_name(name, LONGEST_NAME)
    except UsageError as error:
        raise UsageError(f"the name of a board: {error}") from None
    factor = said.get("factor")
    number = usual_factor(game, options) if factor is None else whole("factor", factor, 1, 1000)
    try_board(game, options)
    return Board(name, dict(options), number)


def board_name(game: str, options: Mapping[str, Any]) -> str:
    """Return what a type of boards is called that has no name."""
    return " ".join([title_of(game), *map(str, options.values())])[:LONGEST_NAME]


def size_of(own: Ladder, options: Mapping[str, Any]) -> Any:
    """Return what the factor of a board goes by."""
    cells = options.get("cells")
    if isinstance(cells, list):
        return (len(cells) + 1) // 2
    return options.get(own.size_option, own.usual_size)


def usual_factor(game: str, options: Mapping[str, Any]) -> int:
    """Return the factor of a board by its size; raise UsageError for a size that has none."""
    own = ladder_of(game)
    if not own.factors:
        return 1
    size = size_of(own, options)
    if not isinstance(size, int) or size not in own.factors:
        known = ", ".join(map(str, own.factors))
        raise UsageError(f"size {short(size)} has no factor: sizes with a factor are {known}")
    return own.factors[size]


def check_growth(game: str, boards: Sequence[Board]) -> None:
    """Raise UsageError unless larger boards of a game with factors have greater ones."""
    own = ladder_of(game)
    if not own.factors:
        return
    known: dict[int, int] = {}
    for size, factor in sorted((size_of(own, one.options), one.factor) for one in boards):
        if known.setdefault(size, factor) != factor:
            raise UsageError(f"size {size} has two factors: {known[size]} and {factor}")
    for (small, less), (large, more) in zip(known.items(), list(known.items())[1:], strict=False):
        if more <= less:
            raise UsageError(
                f"factors must grow with the size: {small} has {less}, and {large} has {more}"
            )


def try_board(game: str, options: Mapping[str, Any]) -> None:
    """Raise UsageError, in the words of the game, unless two can begin a game with options."""
    own, known = load_game(game), load_protocol(game).options
    of_rules = {name: value for name, value in options.items() if name not in known}
    own.rules.new(max(2, own.rules.seats.start), 0, **of_rules)
