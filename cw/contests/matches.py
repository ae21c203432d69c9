"""A match between bots of any kind, from their arguments to the replay."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any, Final, cast

from cw.arena.bots import Bot
from cw.arena.hand import Hand
from cw.arena.opening import Guard, Room, open_seat, with_secrets
from cw.arena.replay import Document, Recorder, replay_of
from cw.arena.seats import PacedSeat, Seat
from cw.arena.table import Played, Watcher, play
from cw.errors import Refused
from cw.games.base import Json, Player, Strategy
from cw.games.catalogue import AnyGame, listing, load_conductor, load_game, load_strategies


@dataclass(frozen=True, slots=True)
class Setup:
    """What else a match may be given."""

    watch: Watcher | None = None
    start: Json = None
    """The document of a state to begin with instead of a new game."""
    guard: Guard = field(default_factory=Guard)
    recorder: Recorder | None = None
    """Keeps the frames, for one who wants to see them while the match is played."""
    hands: Mapping[str, Hand] = field(default_factory=dict)
    """The people at the table, by name."""
    pace: float = 0.0
    """Seconds that every action of a bot takes at least, for those who look on."""


PLAIN: Final = Setup()


@dataclass(frozen=True, slots=True)
class Finished:
    """A match that is over, and its replay."""

    played: Played
    replay: Document


def play_match(
    game: str,
    bots: Sequence[Bot],
    seed: int,
    options: Mapping[str, Json],
    setup: Setup = PLAIN,
) -> Finished:
    """Play one match; raise Refused for bots and options that the game does not take."""
    return asyncio.run(conduct(game, bots, seed, options, setup))


class FromPosition:
    """The rules of a game, but for new games: they begin with a recorded state."""

    def __init__(self, game: AnyGame, start: Json) -> None:
        """Keep the state's document."""
        self._game = game
        self._start = start

    def new(self, players: Json, seed: int, **options: Json) -> Any:
        """Give the recorded state."""
        return self._game.state_from_json(self._start)

    def __getattr__(self, name: str) -> Any:
        """Take everything else from the game."""
        return getattr(self._game, name)


async def conduct(
    game: str,
    bots: Sequence[Bot],
    seed: int,
    options: Mapping[str, Json],
    setup: Setup = PLAIN,
) -> Finished:
    """Seat the bots, play, and give the match with its replay."""
    rules, conductor = load_game(game), load_conductor(game)
    if setup.start is not None:
        rules = cast(AnyGame, FromPosition(rules, setup.start))
    if len(bots) not in rules.seats:
        allowed = f"{rules.seats.start} to {rules.seats.stop - 1}"
        raise Refused(f"{game} is for {allowed} bots, not {len(bots)}")
    seated = dict(
        zip(conductor.players([bot.name for bot in bots]), map(with_secrets, bots), strict=True)
    )
    played = Played(rules, seated, seed, options)
    room = room_for(game, played, seed, setup)
    seats: dict[Player, Seat] = {}
    recorder = setup.recorder or Recorder()

    def show(match: Played) -> None:
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
    await play(conductor, played, seats, show)
    return finish(played, recorder)


def paced(seat: Seat, pace: float) -> Seat:
    """Give a seat that takes its time, if it shall."""
    return PacedSeat(seat, pace) if pace else seat


def room_for(game: str, played: Played, seed: int, setup: Setup = PLAIN) -> Room:
    """Give what is the same for all seats of a match."""

    def read_action(player: Player, document: Json) -> Any:
        return played.game.actions_from_json(played.state, {str(player): document})[player]

    conductor = load_conductor(game)
    return Room(
        shapes=conductor.shapes,
        signed_with=conductor.signed_with,
        strategy=partial(strategy_for, game, seed=seed),
        write_view=played.game.view_to_json,
        read_action=read_action,
        guard=setup.guard,
    )


def finish(played: Played, recorder: Recorder) -> Finished:
    """Make the replay of a match that is over."""
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    version = listing(played.game.name).rules_version
    return Finished(played, replay_of(played, recorder, version, date))


def strategy_for(game: str, name: str, player: Player, seed: int) -> Strategy[Any, Any]:
    """Make a built-in strategy; its draws come from the seed of the match and its seat."""
    strategies = load_strategies(game)
    if name not in strategies:
        raise Refused(f"{game} has no strategy {name!r}; there are: {', '.join(strategies)}")
    return strategies[name](player, Random(f"{seed} {player}"))
