"""The settings of team tournaments: boards and names, and the defaults of each game."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Literal, cast, get_args

import msgspec

from cw.errors import UsageError, choices, short
from cw.games.registry import load_game, load_protocol, load_strategy
from cw.league.ladder import POINTS, BoardSpec
from cw_hub.bots.addresses import Hosting
from cw_hub.competitions.service import SINCE
from cw_hub.pages import forms as pages_forms
from cw_hub.pages.forms import LONGEST_SLUG, is_slug
from cw_hub.store.models import BotKind

LONGEST_TEAM: Final = 40
LONGEST_GROUP: Final = 32
LONGEST_KEY: Final = 80

GROUP_WORDS: Final = frozenset({"events", "host", "join", "kit", "leave", "my-team"})
"""Path segments used alongside group slugs; no group may have such a slug."""

TEAM_WORDS: Final = frozenset({"ladder"})
"""Path segments used alongside team slugs, as in `ladder.json`."""


def clean_name(text: str, longest: int) -> str:
    """Return a cleaned name; raise UsageError if it, or its key, is invalid."""
    name = pages_forms.clean_name(text, longest)
    if len(name_key(name)) > max(longest, LONGEST_KEY):
        raise UsageError(f"longer than {longest} characters")
    return name


def name_key(name: str) -> str:
    """Return the key by which names are compared; equal keys mean the same name."""
    return unicodedata.normalize("NFKC", name.casefold())


def slug_for(name: str, slug: str, used: Collection[str], empty: str) -> str:
    """Return the requested slug, or for "" a new one derived from the name.

    Raises UsageError if the slug is malformed or already used.
    """
    if not slug:
        return new_slug(name, used, empty)
    if not is_slug(slug) or slug in used:
        raise UsageError(f"the slug {slug[:LONGEST_SLUG]} is taken or invalid")
    return slug


def new_slug(name: str, used: Collection[str], empty: str) -> str:
    """Derive a slug from a name: Latin letters, digits, hyphens; numbered if used or empty."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_SLUG].strip("-")
    if stem and stem not in used:
        return stem
    number = 2 if stem else 1
    while (slug := numbered(stem or empty, number)) in used:
        number += 1
    return slug


def numbered(stem: str, number: int) -> str:
    """Append a number to a slug, within the maximum length."""
    end = f"-{number}"
    return stem[: LONGEST_SLUG - len(end)].rstrip("-") + end


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
    """Return a game's display name."""
    return game.replace("-", " ").title().replace(" Of ", " of ")


def whole(name: str, value: Any, low: int, high: int) -> int:
    """Return an integer within a range; raise UsageError for any other value."""
    if type(value) is int and low <= value <= high:
        return value
    raise UsageError(f"{name} must be a whole number from {low} to {high}, not {short(value)}")


def read_boards(game: str, documents: Any) -> tuple[BoardSpec, ...]:
    """Return board types; raise UsageError, with the game's own message, if one is invalid.

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
    """Raise UsageError, with the game's message, unless a game can start with these options."""
    protocol_options = load_protocol(game).options
    rules = load_game(game).rules
    rule_options = {name: value for name, value in options.items() if name not in protocol_options}
    rules.new(max(2, rules.seats.start), 0, **rule_options)


FORMAT: Final = "tournament"
"""The stored name of the format."""

HOSTINGS: Final[tuple[Hosting, ...]] = get_args(Hosting)


@dataclass(frozen=True, slots=True)
class TournamentSettings:
    """The settings of a tournament."""

    plan: Literal["pairs", "all"]
    """Whether every pair of entries meets in a round, or all of them play a single match."""
    battles: int
    """Number of games per match."""
    tiebreak: Literal["none", "score"]
    points: Mapping[str, int]
    """The points for results, with the keys of `cw.league.ladder.POINTS`."""
    boards: tuple[BoardSpec, ...]
    """The initial board types."""
    hosting: Hosting
    """How uploaded programs are run."""
    per_bot: int
    """Maximum number of simultaneous matches per bot."""
    parallel: int
    """Maximum number of simultaneous matches in the tournament."""
    round_every: int
    """Seconds from the start of one round to that of the next; 0: no pause between them."""
    finalists: int
    """Number of teams per public group that advance to the final."""
    tokens_per_team: int
    training: str
    """The built-in strategy for practice matches; "" for none."""
    stores: bool = False
    """Whether the teams' machines have databases that store data between requests."""


@dataclass(frozen=True, slots=True)
class GameDefaults:
    """The default settings of a game's tournaments."""

    training: str
    kinds: tuple[BotKind, ...] = ("url", "program")
    """The kinds of bots that teams may have; a new team's bot is of the first kind."""
    plan: Literal["pairs", "all"] = "pairs"
    battles: int = 2
    tiebreak: Literal["none", "score"] = "none"
    hosting: Hosting = "off"
    per_bot: int = 1
    parallel: int = 8
    round_every: int = 0
    finalists: int = 3
    tokens_per_team: int = 1
    points: Mapping[str, int] = field(default_factory=dict)
    """Only the values that differ from POINTS."""
    stores: bool = False


DEFAULTS: Final[Mapping[str, GameDefaults]] = {
    "hexagon": GameDefaults("greedy", per_bot=4),
    "circuit-wars": GameDefaults(
        "greedy", ("program",), tiebreak="score", hosting="sandboxed", per_bot=2
    ),
    "paint": GameDefaults("walker", ("program",), tiebreak="score", hosting="sandboxed", per_bot=2),
    "code-battle": GameDefaults("gatherer"),
    "end-of-codes": GameDefaults("sample", plan="all", battles=1),
}

NUMBERS: Final[Mapping[str, tuple[int, int]]] = {
    "battles": (1, 2),
    "per_bot": (1, 256),
    "parallel": (1, 256),
    "round_every": (0, 7 * 24 * 3600),
    "finalists": (1, 100),
    "tokens_per_team": (1, 6),
}
"""The integer settings, with the minimum and maximum of each."""

WORDS: Final[Mapping[str, Sequence[str]]] = {
    "plan": ("pairs", "all"),
    "tiebreak": ("none", "score"),
    "hosting": HOSTINGS,
}
"""The settings with a fixed set of values, each with these values."""

CHANGEABLE: Final = ("parallel", "per_bot", "round_every", "hosting", "stores")
"""The settings that may change after the start, because no result depends on them."""

NAMES: Final = (*WORDS, *NUMBERS, "points", "boards", "training", "stores")


def defaults_of(game: str) -> GameDefaults:
    """Return the default settings of a game; raise UsageError if it is unknown."""
    if game not in DEFAULTS:
        load_game(game)
    return DEFAULTS.get(game, GameDefaults(""))


def stored_settings(game: str, values: Mapping[str, Any]) -> TournamentSettings:
    """Return `settings_of` for stored values; cached, because validation starts games."""
    return _stored_settings(game, msgspec.json.encode(values, order="sorted"))


@lru_cache(maxsize=256)
def _stored_settings(game: str, document: bytes) -> TournamentSettings:
    return settings_of(game, msgspec.json.decode(document))


def settings_of(game: str, values: Mapping[str, Any]) -> TournamentSettings:
    """Return the settings of a tournament; missing values are the defaults of its game.

    Raises a one-sentence UsageError for an unknown setting or an invalid value.
    """
    defaults = defaults_of(game)
    unknown = [name for name in values if name not in NAMES and name != SINCE]
    if unknown:
        name = unknown[0]
        raise UsageError(f"there is no setting {short(name)}; {choices(str(name), NAMES)}")

    def value(name: str) -> Any:
        return values.get(name, getattr(defaults, name))

    words = {name: read_word(name, value(name)) for name in WORDS}
    numbers = {name: whole(name, value(name), *NUMBERS[name]) for name in NUMBERS}
    training, stores = value("training"), value("stores")
    if training:
        load_strategy(game, training if isinstance(training, str) else short(training))
    if not isinstance(stores, bool):
        raise UsageError(f"stores must be true or false, not {short(stores)}")
    if words["plan"] == "pairs" and load_game(game).rules.seats.start > 2:
        raise UsageError(f"{game} is not for two: the plan must be all")
    boards = values.get("boards", default_boards(game, words["plan"]))
    return TournamentSettings(
        **cast(dict[str, Any], words | numbers),
        points=read_points(value("points")),
        boards=read_boards(game, boards),
        training=training,
        stores=stores,
    )


def default_boards(game: str, plan: str) -> Sequence[Mapping[str, Any]]:
    """Return the initial board types of a game; plan `all` excludes boards for two players."""
    boards = BOARDS.get(game, ({"name": title_of(game), "options": {}},))
    if plan == "pairs":
        return boards
    return [board for board in boards if board["options"].get("board") != "duel"]


def read_word(name: str, value: Any) -> str:
    """Return a setting from WORDS; raise UsageError for any other value."""
    if isinstance(value, str) and value in WORDS[name]:
        return value
    raise UsageError(f"{name} must be one of {', '.join(WORDS[name])}, not {short(value)}")


def read_points(values: Any) -> dict[str, int]:
    """Return the points for results; raise UsageError if they are invalid."""
    if not isinstance(values, Mapping):
        raise UsageError(f"points must be a table such as win_higher = 4, not {short(values)}")
    for name in values:
        if name not in POINTS:
            raise UsageError(f"unknown points {short(name)}; {choices(str(name), POINTS)}")
    return {name: whole(name, values.get(name, usual), 0, 1000) for name, usual in POINTS.items()}
