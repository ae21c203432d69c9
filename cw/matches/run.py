"""Playing one match from its specification to its result, for any game and any bots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_network
from pkgutil import resolve_name
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cw import game as student
from cw.arena.bots import BotSpec
from cw.arena.launch import LaunchPolicy, warn_of, with_secrets
from cw.arena.referee import MatchRecord, MatchReferee
from cw.arena.sandbox import Sandbox
from cw.arena.seats import Seat
from cw.arena.seats.opening import SeatContext, open_seat
from cw.arena.seats.wrappers import (
    Hear,
    HeardSeat,
    HumanSeat,
    ImpatientSeat,
    Meter,
    MeteredSeat,
    PacedSeat,
)
from cw.arena.transports.sockets import Reachable
from cw.errors import ProtocolError, UsageError, short
from cw.games.codec import Game, is_fault
from cw.games.registry import load_game, load_protocol, load_strategy
from cw.games.rules import Json, Player, Strategy, resignation
from cw.games.wire import WireProtocol
from cw.matches.progress import MatchProgress, OnTurn, result_of
from cw.matches.spec import NO_SECRETS, Isolation, MatchResult, MatchSpec, Secrets

if TYPE_CHECKING:
    from cw.matches.hosted import Host

HOSTING: Final = "cw.matches.hosted:hosting"
"""A server for clients; loaded only for games that have some."""

OnLaunch: TypeAlias = Callable[[BotSpec, str], None]
"""Called when a program is started, with a message on how it is isolated."""

OpenSeat: TypeAlias = Callable[[BotSpec, Player, SeatContext], Awaitable[Seat]]

NOBODY: Final[Mapping[str, HumanSeat]] = {}
UNHEARD: Final[Mapping[str, Hear]] = {}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a match is played, as opposed to what is played; never leaves this host."""

    on_turn: OnTurn = lambda _: None
    on_launch: OnLaunch = warn_of
    people: Mapping[str, HumanSeat] = field(default_factory=dict)
    """The seats of human players, by bot name."""
    pace: float = 0.0
    """Minimum seconds per action of a bot, for spectators."""
    meter: Meter | None = None
    """Measures the bots that run in this process, and makes them rest."""
    secrets: Secrets = field(default_factory=dict)
    spectate: bool = False
    """Whether a match of clients is served to spectators."""
    open_seat: OpenSeat = open_seat
    """Seats a bot that is not a human player."""
    hear: Mapping[str, Hear] = field(default_factory=dict)
    """Listeners for the queries and answers of programs, by bot name."""


async def run_match(  # noqa: PLR0913 - each of them is a thing of its own
    spec: MatchSpec,
    *,
    on_turn: OnTurn = lambda _: None,
    on_launch: OnLaunch = warn_of,
    people: Mapping[str, HumanSeat] = NOBODY,
    pace: float = 0.0,
    meter: Meter | None = None,
    secrets: Secrets = NO_SECRETS,
    spectate: bool = False,
    hear: Mapping[str, Hear] = UNHEARD,
) -> MatchResult:
    """Play a match and return its result; nothing of it is running afterwards, even if cancelled.

    `people` are the seats of `human` bots by bot name; `pace` is the minimum seconds per action of
    a bot, for spectators; `spectate` serves a match of clients to them. `meter` measures built-in
    bots and makes them rest. `secrets` may change during the match: each request is signed with the
    current ones. `hear` has the listeners for the programs' queries and answers.

    Raises UsageError if the game, the bots or the options are invalid, and Abandoned if a human
    player or `on_turn` ends the match without a result.

    >>> spec = MatchSpec(
    ...     "final-1",
    ...     "hexagon",
    ...     (BotSpec("ann", "builtin", "greedy"), BotSpec("bob", "builtin", "random")),
    ...     seed=7,
    ...     options={"size": 3},
    ... )
    >>> result = asyncio.run(run_match(spec))
    >>> result.winner, result.reason
    (0, 'finished')
    """
    # Everything that cannot be sent to another host is separate from `spec`, which can.
    run_options = RunOptions(on_turn, on_launch, people, pace, meter, secrets, spectate, hear=hear)
    game, protocol = game_of(spec), load_protocol(spec.game)
    check_number(spec.game, game.rules.seats, len(spec.bots))
    rules_options, protocol_options = parted(spec.options, protocol)
    progress = MatchProgress(
        MatchRecord(
            game,
            seated(spec, protocol, secrets),
            spec.seed,
            rules_options,
            from_position=spec.start is not None,
        )
    )
    async with opened(spec, protocol, protocol_options, progress, run_options) as match:
        await play_until_resigned(match, protocol, people)
    return result_of(spec, progress)


async def play_until_resigned(
    match: ReadyMatch, protocol: WireProtocol, people: Mapping[str, HumanSeat]
) -> None:
    """Play a match to its end, or until a human player resigns and so loses it."""
    playing = asyncio.ensure_future(match.play(protocol))
    leaving = [asyncio.ensure_future(seat.resigned.wait()) for seat in people.values()]
    try:
        # A player may resign while a bot is being queried, so the match is cancelled rather than
        # asked to stop.
        await asyncio.wait((playing, *leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (playing, *leaving):
            task.cancel()
        await asyncio.gather(playing, *leaving, return_exceptions=True)
    if playing.cancelled():
        record = match.referee.record
        record.stopped = resignation(list(record.bots), who_resigned(record, people))
    else:
        playing.result()


def who_resigned(record: MatchRecord, people: Mapping[str, HumanSeat]) -> Player:
    """Return the player who has resigned."""
    left = {name for name, seat in people.items() if seat.resigned.is_set()}
    return next(player for player, bot in record.bots.items() if bot.name in left)


def game_of(spec: MatchSpec) -> Game:
    """Load the game of a match; raise UsageError for an unknown one.

    If the specification has a start, new games start there.
    """
    game = load_game(spec.game)
    if spec.start is None:
        return game
    start = game.codec.state_from_json(spec.start, **{**spec.options, "seed": spec.seed})
    return replace(game, rules=FromPosition(game.rules, start))


class FromPosition:
    """The rules of a game, except that new games start with a given state."""

    def __init__(self, rules: Any, start: Any) -> None:
        """Store the state."""
        self._rules = rules
        self._start = start

    def new(self, players: Json, seed: int, /, **options: Json) -> Any:
        """Return the given state."""
        return self._start

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the game."""
        return getattr(self._rules, name)


def check_number(game: str, seats: range, number: int) -> None:
    """Raise UsageError if the game cannot be played by that many bots."""
    if number not in seats:
        least, most = seats.start, seats.stop - 1
        needed = f"exactly {least}" if least == most else f"{least} to {most}"
        raise UsageError(f"{game} needs {needed} bots; you gave {number}")


def parted(
    options: Mapping[str, Json], protocol: WireProtocol
) -> tuple[dict[str, Json], dict[str, Json]]:
    """Split the options of a match into those of the rules and those of the protocol."""
    rules = {name: value for name, value in options.items() if name not in protocol.options}
    return rules, {name: value for name, value in options.items() if name in protocol.options}


def refuse_services(bots: Sequence[BotSpec], protocol: WireProtocol) -> None:
    """Raise UsageError for a web service if the game cannot use one."""
    for bot in bots:
        if bot.kind == "http" and "http" not in protocol.transports:
            raise UsageError(f"bot {bot.name}: bots of this game are programs, not web services")


def seated(spec: MatchSpec, protocol: WireProtocol, secrets: Secrets) -> dict[Player, BotSpec]:
    """Return the bots by player, each with its secrets."""
    refuse_services(spec.bots, protocol)
    players = spec.players or protocol.players([bot.name for bot in spec.bots])
    bots = [with_secrets(bot.with_settings(secrets.get(bot.name, {}))) for bot in spec.bots]
    return dict(zip(players, bots, strict=True))


@dataclass(frozen=True, slots=True)
class ReadyMatch:
    """A match whose seats are open."""

    referee: MatchReferee
    host: Host | None

    async def play(self, protocol: WireProtocol) -> None:
        """Run the protocol, from the first query of the match to the last."""
        try:
            await protocol.conduct(self.referee)
        finally:
            self.referee.keep_output()
        if self.host is not None:
            self.host.note_attempts(self.referee.record)


@asynccontextmanager
async def opened(
    spec: MatchSpec,
    protocol: WireProtocol,
    protocol_options: Mapping[str, Json],
    progress: MatchProgress,
    options: RunOptions,
) -> AsyncIterator[ReadyMatch]:
    """Open the seats of a match, and its server if its bots are clients."""
    record = progress.record
    bots = tuple(record.bots.values())
    policy = LaunchPolicy(Sandbox(spec.isolation.sandbox), options.on_launch, bots)
    async with AsyncExitStack() as stack:
        host = None
        if "client" in protocol.transports:
            protocol_options = {"timeout": student.TIMEOUT, **protocol_options}
            served = resolve_name(HOSTING)(
                record, protocol_options, policy, spectate=options.spectate
            )
            host = stack.enter_context(served)
            progress.spectate = host.spectate
        seats: dict[Player, Seat] = {}
        stack.push_async_callback(close_all, seats)
        context = context_of(spec, protocol, record, policy, host)
        for player, bot in record.bots.items():
            seat = await seat_of(bot, player, context, options)
            if spec.patience:
                seat = ImpatientSeat(seat, spec.patience)
            if bot.name in options.hear and bot.kind == "exec":
                seat = HeardSeat(player, seat, record, options.hear[bot.name])
            seats[player] = host.announced(seat, player, bot.name) if host else seat
        watch = partial(show, progress, host, options.on_turn)
        referee = MatchReferee(record, seats, protocol_options, watch, options.secrets)
        yield ReadyMatch(referee, host)


async def close_all(seats: Mapping[Player, Seat]) -> None:
    """Close all seats, and leave nothing of the bots running."""
    await asyncio.gather(*(seat.close() for seat in seats.values()))


def show(progress: MatchProgress, host: Host | None, on_turn: OnTurn, record: MatchRecord) -> None:
    """Report a match to everyone who watches it, at its start or after a turn."""
    progress.recorder(record)
    if host is not None:
        host.show(record)
    on_turn(progress)


async def seat_of(bot: BotSpec, player: Player, context: SeatContext, options: RunOptions) -> Seat:
    """Open the seat of a bot or a human player; raise UsageError if it cannot play."""
    if bot.kind == "human":
        if bot.name not in options.people:
            raise UsageError(f"bot {bot.name}: people can only play on pages; start `cw serve`")
        return options.people[bot.name]
    seat = await options.open_seat(bot, player, context)
    if options.meter and seat.transport == "in-process":
        seat = MeteredSeat(seat, options.meter)
    return PacedSeat(seat, options.pace) if options.pace else seat


def context_of(
    spec: MatchSpec,
    protocol: WireProtocol,
    record: MatchRecord,
    policy: LaunchPolicy,
    host: Host | None = None,
) -> SeatContext:
    """Return the context shared by all seats of a match."""

    def read_action(player: Player, document: Json) -> Any:
        if is_fault(document):
            raise ProtocolError(f"an action must not have the key fault: {short(document)}")
        actions = record.game.codec.actions_from_json(record.state, {str(player): document})
        return actions[player]

    return SeatContext(
        game=spec.game,
        transports=protocol.transports,
        signed_with=protocol.signed_with,
        strategy=partial(strategy_for, spec.game, seed=spec.seed),
        write_view=record.game.codec.view_to_json,
        read_action=read_action,
        policy=policy,
        reachable_by=partial(reachable_by, spec.isolation),
        client=None if host is None else host.client,
    )


def reachable_by(isolation: Isolation, name: str) -> Reachable:
    """Return the addresses that a bot may have; raise UsageError for an invalid network."""
    is_ours = name in isolation.house
    allowed = (*isolation.networks, *(isolation.house_networks if is_ours else ()))
    try:
        networks = tuple(map(ip_network, allowed))
    except ValueError as error:
        raise UsageError(f"invalid network of an isolation: {error}") from None
    return Reachable(
        private=isolation.addresses == "any",
        networks=networks,
        https=isolation.https and not is_ours,
    )


def strategy_for(game: str, name: str, player: Player, seed: int) -> Strategy[Any, Any]:
    """Create a built-in strategy, with random numbers seeded by the match's seed and its player."""
    return load_strategy(game, name)(player, Random(f"{seed} {player}"))
