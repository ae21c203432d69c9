"""The rules of Code Battle, implementing the arena's `Rules` interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Final, TypeAlias

from cw.errors import IllegalAction, OutOfTurn, short
from cw.games.code_battle.rules.start import start
from cw.games.code_battle.rules.state import (
    DIRECTIONS,
    Condition,
    Orders,
    PlayerStats,
    Slot,
    State,
    read_orders,
    write_orders,
)
from cw.games.code_battle.rules.turn import View, condition, play_turn, view_of
from cw.games.rules import Fault, Json, Outcome, Player

Moves: TypeAlias = list[Json]
"""The list `moves` of a reply, as received."""

FAILURES: Final = 10
"""The number of consecutive faults after which a slot is no longer asked."""

WAYS: Final = (*DIRECTIONS, None)


class CodeBattle:
    """Two to six players; an action is the list `moves` of a reply."""

    name = "code-battle"
    seats = range(2, 7)

    def new(self, players: Json, seed: int, /, **options: Json) -> State:
        """Return the start state on a map; the options are start.OPTIONS."""
        return start(players, seed, options)

    def players(self, state: State) -> range:
        """Return all slots."""
        return range(len(state.stats))

    def to_move(self, state: State) -> tuple[Player, ...]:
        """Return the slots to ask: those with a living bot that have not crashed (rule 1)."""
        if condition(state) is not None:
            return ()
        return tuple(slot for slot in sorted(state.living) if not state.stats[slot].crashed)

    def check(self, state: State, player: Player, action: Moves) -> None:
        """Raise IllegalAction, naming the first ignored entry and how many more there are."""
        if player not in self.to_move(state):
            raise OutOfTurn(f"slot {player} is not to move now")
        if not isinstance(action, list):
            raise IllegalAction(f"moves must be a list, not {short(action)}")
        _, wrong = read_orders(state, int(player), action)
        if wrong:
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            raise IllegalAction(f"{wrong[0]}{more}")

    def step(self, state: State, actions: Mapping[Player, Moves | Fault]) -> State:
        """Play a turn; entries that are not orders are ignored, and after a fault all bots hold."""
        orders: dict[Slot, Orders] = {}
        stats = list(state.stats)
        for slot in state.living:
            if not stats[slot].crashed:
                action = actions.get(slot, [])
                failed = not isinstance(action, list)
                if isinstance(action, list):
                    orders[slot], _ = read_orders(state, slot, action)
                stats[slot] = count_failures(stats[slot], failed=failed)
        return play_turn(replace(state, stats=tuple(stats)), orders)

    def observe(self, state: State, player: Player | None) -> View | State:
        """Return a slot's view; the referee gets the whole state."""
        return state if player is None else view_of(state, int(player))

    def outcome(self, state: State) -> Outcome | None:
        """Return the winner and the ranks (rule book, "End")."""
        why = condition(state)
        if why is None:
            return None
        slots = range(len(state.stats))
        winner = winner_of(state, why)
        keys = [(slot == winner, *ranking_key(state, slot)) for slot in slots]
        if why == "annihilation":
            keys = [(False, 0, 0, 0) for _ in slots]
        return Outcome(
            reason=why,
            winner=winner,
            scores={slot: state.stats[slot].score for slot in slots},
            ranks={slot: 1 + sum(other > keys[slot] for other in keys) for slot in slots},
        )

    def sample(self, state: State, player: Player, rng: Random) -> Moves:
        """Return random moves: each own bot holds or moves in one of the directions."""
        steps = {bot.tile: rng.choice(WAYS) for bot in state.bots if bot.owner == player}
        return list(write_orders(state, {tile: way for tile, way in steps.items() if way}))


def count_failures(stats: PlayerStats, *, failed: bool) -> PlayerStats:
    """Count consecutive faults; after the tenth a slot is no longer asked (rule book, "A turn")."""
    failures = stats.failures + 1 if failed else 0
    return stats._replace(failures=failures, crashed=failures >= FAILURES)


def ranking_key(state: State, slot: Slot) -> tuple[int, int, int]:
    """Return the ranking key of a slot: score, collected energy, living bots."""
    stats = state.stats[slot]
    return stats.score, stats.collected, sum(bot.owner == slot for bot in state.bots)


def winner_of(state: State, why: Condition) -> Slot | None:
    """Return the winner, or None after annihilation or if several slots share the best result."""
    if why == "annihilation":
        return None
    if why == "sole_survivor":
        return min(state.living)
    slots = range(len(state.stats))
    if why == "dominance":
        return max(slots, key=lambda slot: state.stats[slot].dominant_turns)
    best = max(ranking_key(state, slot) for slot in slots)
    first = [slot for slot in slots if ranking_key(state, slot) == best]
    return first[0] if len(first) == 1 else None
