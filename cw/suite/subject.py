"""A game under test, and random matches of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from cw.errors import ArenaError
from cw.games.codec import Game
from cw.games.registry import load_game
from cw.games.rules import Json

MOST_TURNS: Final = 3000
"""Turns after which a random match should be over."""


class BrokenPromise(ArenaError):
    """A game violates a requirement on all games; the message says which, and how it showed."""


def require(holds: object, promise: str) -> None:
    """Raise BrokenPromise with this sentence unless a condition holds."""
    if not holds:
        raise BrokenPromise(promise)


@dataclass(frozen=True, slots=True)
class Subject:
    """A game under test."""

    game: Game
    options: Mapping[str, Json] = field(default_factory=dict)
    """Options that keep its matches short."""
    illegal_on_purpose: Collection[str] = ()
    """Strategies that play illegally to test the referee."""

    @property
    def numbers(self) -> list[int]:
        """The numbers of players to try: two, and one more if the game allows it."""
        seats = self.game.rules.seats
        return [number for number in (2, 3, 4) if number in seats][:2] or [seats[0]]

    def start(self, seed: int, players: int | None = None) -> Any:
        """Return the start of a match."""
        return self.game.rules.new(players or self.numbers[0], seed, **self.options)

    def turns(self, seed: int, players: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Play a random match; yield each state with the actions made in it."""
        rules, rng = self.game.rules, Random(seed)
        state = self.start(seed, players)
        for _ in range(MOST_TURNS):
            if rules.outcome(state) is not None:
                return
            actions = {player: rules.sample(state, player, rng) for player in rules.to_move(state)}
            require(actions, "nobody is to move, but the match has no outcome")
            yield state, actions
            state = rules.step(state, actions)
        raise BrokenPromise(
            f"the match with seed {seed} takes more than {MOST_TURNS} turns: give "
            "options that make it shorter"
        )

    def some(self, seed: int, most: int = 12) -> list[tuple[Any, Any]]:
        """Return some turns of a random match, including the first and the last."""
        played = list(self.turns(seed))
        if len(played) <= most:
            return played
        return [played[0], *Random(seed).sample(played[1:-1], most - 2), played[-1]]

    def printed(self, state: Any) -> str:
        """Serialize a state and its result."""
        codec = self.game.codec
        return json.dumps([codec.state_to_json(state), codec.result_to_json(state)])


def subject(name: str, **options: Json) -> Subject:
    """Return a game by name; its matches use the given options."""
    return Subject(load_game(name), options)
