"""The settings of team tournaments, and the defaults of each game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, cast, get_args

import msgspec

from cw.errors import UsageError, choices, short
from cw.games.registry import load_game, load_strategy
from cw.league.ladder.boards import BoardSpec
from cw.league.ladder.points import POINTS
from cw_hub.bots.seats import Hosting
from cw_hub.competitions.tournament.boards import BOARDS, read_boards, title_of, whole
from cw_hub.competitions.verbs import SINCE
from cw_hub.store.tables import BotKind

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
    """The points for results, with the keys of `cw.league.ladder.points.POINTS`."""
    boards: tuple[BoardSpec, ...]
    """The initial board types."""
    hosting: Hosting
    """How uploaded programs are run."""
    per_bot: int
    """Maximum number of simultaneous matches per bot."""
    parallel: int
    """Maximum number of simultaneous matches in the tournament."""
    round_every: int
    """Seconds from the start of one round to that of the next; 0: start at once."""
    finalists: int
    """Number of teams per public group that advance to the final."""
    tokens_per_team: int
    training: str
    """The built-in strategy for practice matches; "" for none."""
    stores: bool = False
    """Whether the teams' machines have databases for data between requests."""


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
    """Only those that differ from POINTS."""
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
"""The settings with a fixed choice of words."""

CHANGEABLE: Final = ("parallel", "per_bot", "round_every", "hosting", "stores")
"""The settings that may change after the start, because no result depends on them."""

NAMES: Final = (*WORDS, *NUMBERS, "points", "boards", "training", "stores")


def defaults_of(game: str) -> GameDefaults:
    """Return the default settings of a game; raise UsageError if it is unknown."""
    if game not in DEFAULTS:
        load_game(game)
    return DEFAULTS.get(game, GameDefaults(""))


def stored_settings(game: str, values: Mapping[str, Any]) -> TournamentSettings:
    """Return `settings_of` for stored values; cached, because validation plays games."""
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
