"""A match between bots of any kind, from their arguments to the replay."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any, Final, cast

from cw.arena.bots import BotSpec
from cw.arena.hand import HumanSeat
from cw.arena.launch import LaunchPolicy, SeatContext, open_seat, with_secrets
from cw.arena.referee import MatchRecord, Watcher, play
from cw.arena.seats import PacedSeat, Seat
from cw.errors import UsageError
from cw.games.registry import AnyRules, game_entry, load_protocol, load_rules, load_strategies
from cw.games.rules import Json, Player, Strategy
from cw.replays.document import Document, Recorder, replay_of


@dataclass(frozen=True, slots=True)
class Setup:
    """What else a match may be given."""

    watch: Watcher | None = None
    start: Json = None
    """The document of a state to begin with instead of a new game."""
    guard: LaunchPolicy = field(default_factory=LaunchPolicy)
    recorder: Recorder | None = None
    """Keeps the frames, for one who wants to see them while the match is played."""
    hands: Mapping[str, HumanSeat] = field(default_factory=dict)
    """The people at the table, by name."""
    pace: float = 0.0
    """Seconds that every action of a bot takes at least, for those who look on."""


PLAIN: Final = Setup()


@dataclass(frozen=True, slots=True)
class FinishedMatch:
    """A match that is over, and its replay."""

    played: MatchRecord
    replay: Document


def play_match(
    game: str,
    bots: Sequence[BotSpec],
    seed: int,
    options: Mapping[str, Json],
    setup: Setup = PLAIN,
) -> FinishedMatch:
    """Play one match; raise UsageError for bots and options that the game does not take."""
    return asyncio.run(conduct(game, bots, seed, options, setup))


class FromPosition:
    """The rules of a game, but for new games: they begin with a recorded state."""

    def __init__(self, game: AnyRules, start: Json) -> None:
        """Keep the state's document."""
        self._game = game
        self._start = start

    def new(self, players: Json, seed: int, **options: Json) -> Any:
        """Return the recorded state."""
        return self._game.state_from_json(self._start)

    def __getattr__(self, name: str) -> Any:
        """Take everything else from the game."""
        return getattr(self._game, name)


async def conduct(
    game: str,
    bots: Sequence[BotSpec],
    seed: int,
    options: Mapping[str, Json],
    setup: Setup = PLAIN,
) -> FinishedMatch:
    """Seat the bots, play, and give the match with its replay."""
    rules, protocol = load_rules(game), load_protocol(game)
    if setup.start is not None:
        rules = cast(AnyRules, FromPosition(rules, setup.start))
    if len(bots) not in rules.seats:
        allowed = f"{rules.seats.start} to {rules.seats.stop - 1}"
        raise UsageError(f"{game} is for {allowed} bots, not {len(bots)}")
    seated = dict(
        zip(protocol.players([bot.name for bot in bots]), map(with_secrets, bots), strict=True)
    )
    played = MatchRecord(rules, seated, seed, options)
    room = room_for(game, played, seed, setup)
    seats: dict[Player, Seat] = {}
    recorder = setup.recorder or Recorder()

    def show(match: MatchRecord) -> None:
        recorder(match)
        if setup.watch:
            setup.watch(match)

    try:
        for player, bot in seated.items():
            seats[player] = setup.hands.get(bot.name) or paced(
                await open_seat(bot, player, room), setup.pace
            )
    except BaseException:
        await asyncio.gather(*(seat.close() for seat in seats.values()))
        raise
    await play(protocol, played, seats, show)
    return finish(played, recorder)


def paced(seat: Seat, pace: float) -> Seat:
    """Return a seat that takes its time, if it shall."""
    return PacedSeat(seat, pace) if pace else seat


def room_for(game: str, played: MatchRecord, seed: int, setup: Setup = PLAIN) -> SeatContext:
    """Return what is the same for all seats of a match."""

    def read_action(player: Player, document: Json) -> Any:
        return played.game.actions_from_json(played.state, {str(player): document})[player]

    protocol = load_protocol(game)
    return SeatContext(
        transports=protocol.transports,
        signed_with=protocol.signed_with,
        strategy=partial(strategy_for, game, seed=seed),
        write_view=played.game.view_to_json,
        read_action=read_action,
        guard=replace(setup.guard, bots=tuple(played.bots.values())),
    )


def finish(played: MatchRecord, recorder: Recorder) -> FinishedMatch:
    """Make the replay of a match that is over."""
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    version = game_entry(played.game.name).rules_version
    return FinishedMatch(played, replay_of(played, recorder, version, date))


def strategy_for(game: str, name: str, player: Player, seed: int) -> Strategy[Any, Any]:
    """Make a built-in strategy; its draws come from the seed of the match and its seat."""
    strategies = load_strategies(game)
    if name not in strategies:
        raise UsageError(f"{game} has no strategy {name!r}; there are: {', '.join(strategies)}")
    return strategies[name](player, Random(f"{seed} {player}"))
