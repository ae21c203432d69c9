"""Plays one match from its specification to its result, whatever its game and its bots are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_network
from random import Random
from typing import Any, Final, TypeAlias

from cw import game as student
from cw.arena.bots import BotSpec
from cw.arena.launch import LaunchPolicy, warn_of, with_secrets
from cw.arena.referee import MatchRecord, MatchReferee
from cw.arena.sandbox import Sandbox
from cw.arena.seats import Seat
from cw.arena.seats.human import HumanSeat
from cw.arena.seats.opening import SeatContext, open_seat
from cw.arena.seats.wrappers import PacedSeat
from cw.arena.transports.sockets import Reachable
from cw.errors import Failure, ProtocolError, UsageError, short
from cw.games.codec import Game, is_fault
from cw.games.registry import load_game, load_protocol, load_strategy
from cw.games.rules import Json, Player, Strategy, resignation
from cw.games.wire import WireProtocol
from cw.matches.hosted import Host, hosting
from cw.matches.spec import NO_SECRETS, Isolation, MatchFault, MatchResult, MatchSpec, Secrets
from cw.matches.verdict import tie_breaks
from cw.replays.document import Document, Recorder, ending_of, replay_of

OnLaunch: TypeAlias = Callable[[BotSpec, str], None]
"""Is told how a program that is started is isolated."""

NOBODY: Final[Mapping[str, HumanSeat]] = {}


@dataclass(slots=True)
class MatchProgress:
    """A match while it is played."""

    record: MatchRecord
    date: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    """When it began, in UTC."""
    recorder: Recorder = field(default_factory=Recorder)
    spectate: str | None = None
    """The address at which people can watch it, if that was asked for."""

    @property
    def turns(self) -> int:
        """How many turns have been played."""
        return len(self.record.turns)

    def document(self) -> Document:
        """Return the replay of the match so far."""
        return replay_of(self.record, self.recorder, self.date)

    def news(self, after: int) -> Document:
        """Return the turns after so many, and what is known of the end."""
        return {"turns": self.recorder.turns[after:], **ending_of(self.record)}


OnTurn: TypeAlias = Callable[[MatchProgress], None]
"""Is shown a match after its start and after every turn; an error that it raises ends the match."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a match is played, beside what is played; nothing of it travels."""

    on_turn: OnTurn = lambda _: None
    on_launch: OnLaunch = warn_of
    people: Mapping[str, HumanSeat] = field(default_factory=dict)
    """The people who play, by the name of their bot."""
    pace: float = 0.0
    """Seconds that every action of a bot takes at least, for spectators."""
    secrets: Secrets = field(default_factory=dict)
    spectate: bool = False
    """Whether a match of clients is served to spectators."""


async def run_match(  # noqa: PLR0913 - each of them is a thing of its own
    spec: MatchSpec,
    *,
    on_turn: OnTurn = lambda _: None,
    on_launch: OnLaunch = warn_of,
    people: Mapping[str, HumanSeat] = NOBODY,
    pace: float = 0.0,
    secrets: Secrets = NO_SECRETS,
    spectate: bool = False,
) -> MatchResult:
    """Play a match and return its result; afterwards, also when cancelled, nothing of it runs.

    `people` are the seats of `human` bots by name; `pace` is the seconds that every action of a bot
    takes at least, for spectators; `spectate` serves a match of clients to them. `secrets` may
    change while the match is played: requests are signed by what they are then. Raises UsageError
    for a game, bots and options that cannot be played, and Abandoned where a person or `on_turn`
    ends the match without a result.
    """
    run_options = RunOptions(on_turn, on_launch, people, pace, secrets, spectate)
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
    """Play a match to its end, or until a person gives it up: then they have lost it."""
    playing = asyncio.ensure_future(match.play(protocol))
    leaving = [asyncio.ensure_future(seat.resigned.wait()) for seat in people.values()]
    try:
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
    """Return the player who has given the match up."""
    left = {name for name, seat in people.items() if seat.resigned.is_set()}
    return next(player for player, bot in record.bots.items() if bot.name in left)


def game_of(spec: MatchSpec) -> Game:
    """Load the game of a match; raise UsageError for an unknown one.

    Where the specification holds a start, a new game begins with that.
    """
    game = load_game(spec.game)
    if spec.start is None:
        return game
    start = game.codec.state_from_json(spec.start, **{**spec.options, "seed": spec.seed})
    return replace(game, rules=FromPosition(game.rules, start))


class FromPosition:
    """The rules of a game, but for new games: they begin with a given state."""

    def __init__(self, rules: Any, start: Any) -> None:
        """Keep the state."""
        self._rules = rules
        self._start = start

    def new(self, players: Json, seed: int, /, **options: Json) -> Any:
        """Return the state."""
        return self._start

    def __getattr__(self, name: str) -> Any:
        """Take everything else from the game."""
        return getattr(self._rules, name)


def check_number(game: str, seats: range, number: int) -> None:
    """Raise UsageError for a number of bots that cannot play the game."""
    if number not in seats:
        least, most = seats.start, seats.stop - 1
        needed = f"exactly {least}" if least == most else f"{least} to {most}"
        raise UsageError(f"{game} needs {needed} bots; you gave {number}")


def parted(
    options: Mapping[str, Json], protocol: WireProtocol
) -> tuple[dict[str, Json], dict[str, Json]]:
    """Part the options of a match: those of the rules, and those of the protocol."""
    rules = {name: value for name, value in options.items() if name not in protocol.options}
    return rules, {name: value for name, value in options.items() if name in protocol.options}


def refuse_services(bots: Sequence[BotSpec], protocol: WireProtocol) -> None:
    """Raise UsageError for a web service where the game cannot ask one."""
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
        """Let the protocol lead the match from its first query to its last."""
        record = self.referee.record
        try:
            await protocol.conduct(self.referee)
        finally:
            seats = self.referee.seats
            record.stderr = {player: seat.stderr for player, seat in seats.items()}
        if self.host is not None:
            self.host.note_attempts(record)


@asynccontextmanager
async def opened(
    spec: MatchSpec,
    protocol: WireProtocol,
    protocol_options: Mapping[str, Json],
    progress: MatchProgress,
    options: RunOptions,
) -> AsyncIterator[ReadyMatch]:
    """Open the seats of a match, and its server where its bots are clients of one."""
    record = progress.record
    bots = tuple(record.bots.values())
    policy = LaunchPolicy(Sandbox(spec.isolation.sandbox), options.on_launch, bots)
    async with AsyncExitStack() as stack:
        host = None
        if "client" in protocol.transports:
            protocol_options = {"timeout": student.TIMEOUT, **protocol_options}
            served = hosting(record, protocol_options, policy, spectate=options.spectate)
            host = stack.enter_context(served)
            progress.spectate = host.spectate
        seats: dict[Player, Seat] = {}
        stack.push_async_callback(close_all, seats)
        context = context_of(spec, protocol, record, policy, host)
        for player, bot in record.bots.items():
            seat = await seat_of(bot, player, context, options)
            seats[player] = host.announced(seat, player, bot.name) if host else seat
        watch = partial(shown, progress, host, options.on_turn)
        referee = MatchReferee(record, seats, protocol_options, watch, options.secrets)
        yield ReadyMatch(referee, host)


async def close_all(seats: Mapping[Player, Seat]) -> None:
    """Leave nothing of the bots running."""
    await asyncio.gather(*(seat.close() for seat in seats.values()))


def shown(progress: MatchProgress, host: Host | None, on_turn: OnTurn, record: MatchRecord) -> None:
    """Show a match after its start or a turn to all who watch it."""
    progress.recorder(record)
    if host is not None:
        host.show(record)
    on_turn(progress)


async def seat_of(bot: BotSpec, player: Player, context: SeatContext, options: RunOptions) -> Seat:
    """Open the seat of a bot or of a person; raise UsageError for one that cannot play."""
    if bot.kind == "human":
        if bot.name not in options.people:
            raise UsageError(f"bot {bot.name}: people play on pages, by `cw serve`")
        return options.people[bot.name]
    seat = await open_seat(bot, player, context)
    return PacedSeat(seat, options.pace) if options.pace else seat


def context_of(
    spec: MatchSpec,
    protocol: WireProtocol,
    record: MatchRecord,
    policy: LaunchPolicy,
    host: Host | None = None,
) -> SeatContext:
    """Return what is the same for all seats of a match."""

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
        reachable=reachable_by(spec.isolation),
        client=None if host is None else host.client,
    )


def reachable_by(isolation: Isolation) -> Reachable:
    """Return which addresses web services may have; raise UsageError for what is no network."""
    try:
        networks = tuple(map(ip_network, isolation.networks))
    except ValueError as error:
        raise UsageError(f"the networks of an isolation: {error}") from None
    return Reachable(private=isolation.addresses == "any", networks=networks)


def strategy_for(game: str, name: str, player: Player, seed: int) -> Strategy[Any, Any]:
    """Make a built-in strategy; its draws come from the seed of the match and its seat."""
    return load_strategy(game, name)(player, Random(f"{seed} {player}"))


def result_of(spec: MatchSpec, progress: MatchProgress) -> MatchResult:
    """Return the result of a match that is over."""
    record, outcome = progress.record, progress.record.outcome
    if outcome is None:
        raise Failure(f"the protocol of {spec.game} has left a match without an outcome")
    numbers = {player: number for number, player in enumerate(record.bots)}
    return MatchResult(
        id=spec.id,
        game=spec.game,
        reason=outcome.reason,
        winner=None if outcome.winner is None else numbers[outcome.winner],
        ranks=tuple(outcome.ranks.get(player) for player in record.bots),
        scores=tuple(outcome.scores.get(player) for player in record.bots),
        faults=tuple(
            MatchFault(
                numbers[noted.player],
                noted.player,
                noted.turn,
                noted.fault.kind,
                noted.fault.sentence,
                noted.fault.expected,
                noted.fault.actual,
                noted.fault.answer,
            )
            for noted in record.faults
        ),
        seconds=tuple(
            tuple(turn.seconds[player] for turn in record.turns if player in turn.seconds)
            for player in record.bots
        ),
        turns=len(record.turns),
        stderr=tuple(record.stderr.get(player, "") for player in record.bots),
        replay=progress.document(),
        tie_breaks=tie_breaks(spec.game, record.state, record.bots),
        figures=figures_of(record),
    )


def figures_of(record: MatchRecord) -> tuple[dict[str, Json], ...]:
    """Return what the game keeps of each bot beside rank and score; () if there was no start."""
    if record.state is None:
        return ()
    figures = record.game.conduct.figures(record.state)
    return tuple(dict(figures.get(player, {})) for player in record.bots)
