"""Specifications and results of matches, as values that can be converted to and from JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from cw import documents
from cw.arena.bots import SECRET_SETTINGS, BotSpec
from cw.errors import FaultKind, ProtocolError
from cw.games.rules import Json, Player

LARGEST_SPEC: Final = 64 * 1024 * 1024
"""Maximum bytes of a specification: its start may be a state of the largest End of Codes game."""

Secrets: TypeAlias = Mapping[str, Mapping[str, str]]
"""Settings that no one else may read, by bot name: `secret`, `api_key`."""

NO_SECRETS: Final[Secrets] = {}

SandboxPolicy: TypeAlias = Literal["auto", "require", "off"]


class Isolation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the bots of a match are isolated from us, and from each other."""

    sandbox: SandboxPolicy = "auto"
    """Whether programs run in bubblewrap: if it works, always, or never."""
    addresses: Literal["any", "public"] = "any"
    """Which addresses `http://` bots may have; `public` excludes this host and its networks."""
    networks: tuple[str, ...] = ()
    """Networks such as `10.1.0.0/16` whose addresses are allowed as well as public ones."""
    https: bool = False
    """Whether web services must use `https://`."""
    house: tuple[str, ...] = ()
    """The names of our own bots, which may also use `http://` and be in `house_networks`."""
    house_networks: tuple[str, ...] = ()


USUAL_PATIENCE: Final = 10
"""The patience in a match that is played to see how a bot does."""


class MatchSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything needed to play one match; the same specification gives the same match.

    This holds as far as its bots are deterministic. Secrets are passed separately.

    >>> bots = (BotSpec("ann", "builtin", "greedy"), BotSpec("bob", "builtin", "random"))
    >>> spec = MatchSpec("final-1", "hexagon", bots, seed=7, options={"size": 3})
    >>> MatchSpec.from_json(spec.to_json()) == spec
    True
    """

    id: Annotated[str, Meta(min_length=1, max_length=200)]
    game: str
    bots: tuple[BotSpec, ...]
    """In seat order, each with a unique name."""
    seed: int
    options: dict[str, Json] = msgspec.field(default_factory=dict)
    start: Json = None
    """The state to start with, as JSON, instead of a new game."""
    isolation: Isolation = Isolation()
    players: tuple[Player, ...] = ()
    """The game's names for the seats; if empty, its protocol numbers or names them."""
    patience: Annotated[int, Meta(ge=0)] = 0
    """Number of consecutive late answers after which a bot is asked in only one turn of ten.

    0 for never, as contests require.
    """

    def __post_init__(self) -> None:
        """Raise ValueError if two bots have the same name or player, or if a setting is secret."""
        names = [bot.name for bot in self.bots]
        if len(set(names)) < len(names):
            raise ValueError("two bots have the same name")
        if self.players and len(set(self.players)) != len(names):
            raise ValueError("each bot needs a player of its own")
        if any(SECRET_SETTINGS & set(bot.settings) for bot in self.bots):
            raise ValueError("a specification must not contain secrets: pass them separately")

    @staticmethod
    def from_json(document: Json) -> MatchSpec:
        """Read a specification; raise ProtocolError, with the location of the error, if invalid."""
        try:
            return documents.convert(document, MatchSpec)
        except (msgspec.ValidationError, RecursionError) as error:
            raise ProtocolError(f"this is not a match specification: {error}") from None

    def to_json(self) -> dict[str, Json]:
        """Return the form that `from_json` reads."""
        document: dict[str, Json] = msgspec.to_builtins(self)
        return document


class MatchFault(msgspec.Struct, frozen=True):
    """A fault of a bot: whose it was, when, and what was wrong."""

    bot: int
    """The number of the bot in the specification, from 0."""
    player: Player
    """The bot's player, as the game names it."""
    turn: int
    """Turns played before it."""
    kind: FaultKind
    detail: str
    expected: str = ""
    """What was expected, if the game states that separately."""
    actual: str = ""
    """What was received instead."""
    answer: str = ""
    """The beginning of the faulty answer; for the owner of the bot only."""
    cause: str = ""
    """What went wrong in the exchange, more specific than the kind, as named by transports."""

    def to_json(self) -> dict[str, Json]:
        """Return `turn`, `player`, `kind` and `detail`, as in reports and replays."""
        return {name: getattr(self, name) for name in ("turn", "player", "kind", "detail")}


class MatchResult(msgspec.Struct, frozen=True):
    """How a match ended; every tuple has an entry for each bot of the specification, in order.

    >>> from cw.notebook import play
    >>> result = play("paint", "builtin:walker", "builtin:still", seed=1).result
    >>> result.winner, result.ranks, result.faults_of(0)
    (0, (1, 2), [])
    """

    id: str
    game: str
    reason: str
    """The game's name for how it ended."""
    winner: int | None
    """The number of the bot that won, or None."""
    ranks: tuple[int | None, ...]
    """From 1; equal bots share a rank; None for a bot that the game does not rank."""
    scores: tuple[int | float | None, ...]
    faults: tuple[MatchFault, ...]
    """In the order in which they were seen."""
    seconds: tuple[tuple[float, ...], ...]
    """The time of every action in seconds, by bot."""
    turns: int
    stderr: tuple[str, ...]
    """The head and tail of what each program wrote to its standard error."""
    replay: dict[str, Any]
    """The replay document (docs/replay.md)."""
    tie_breaks: dict[str, tuple[int | float, ...]] = msgspec.field(default_factory=dict)
    """What the game compares when scores are equal, by name, in order of comparison."""
    figures: tuple[dict[str, Json], ...] = ()
    """The game's statistics for each bot other than rank and score; () if it never started."""
    stderr_turns: tuple[tuple[tuple[int, int], ...], ...] = ()
    """The turns, from 1, with output on standard error, and the index where each one's text starts.

    Turn 0 has what came before the first turn. () if unknown.
    """

    def __repr__(self) -> str:
        """Omit the replay: asyncio.run formats its result twice, without showing it."""
        return f"MatchResult({self.id!r}, {self.game!r}, {self.reason!r}, turns={self.turns})"

    @staticmethod
    def from_json(document: Json) -> MatchResult:
        """Read a result; raise ProtocolError, with the location of the error, if invalid."""
        try:
            return documents.convert(document, MatchResult)
        except (msgspec.ValidationError, RecursionError) as error:
            raise ProtocolError(f"this is not a match result: {error}") from None

    def to_json(self) -> dict[str, Json]:
        """Return the form that `from_json` reads."""
        document: dict[str, Json] = msgspec.to_builtins(self)
        return document

    def faults_of(self, bot: int) -> list[MatchFault]:
        """Return the faults of one bot."""
        return [fault for fault in self.faults if fault.bot == bot]
