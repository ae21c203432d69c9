"""The rules of Paint, behind the arena's common interface."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from cw.errors import IllegalAction, OutOfTurn
from cw.games.paint.rules import boards
from cw.games.paint.rules.messages import state_message
from cw.games.paint.rules.state import ACTIONS, Action, State
from cw.games.paint.rules.turn import resolve
from cw.games.rules import Fault, Json, Outcome, Player


class Paint:
    """Two or more avatars paint a board; all act at the same time."""

    name = "paint"
    seats = range(2, 10_001)

    def new(self, players: Json, seed: int, /, **options: Json) -> State:
        """Return the start state; for options see boards.OPTIONS."""
        return boards.new_state(players, seed, options)

    def players(self, state: State) -> tuple[str, ...]:
        """Return all players in seat order."""
        return state.players

    def to_move(self, state: State) -> tuple[Player, ...]:
        """Return all players while turns are left."""
        return state.players if state.turns_left else ()

    def check(self, state: State, player: Player, action: Action) -> None:
        """Raise IllegalAction unless it is one of the sixteen actions, and before the end."""
        if player not in state.players:
            raise IllegalAction(f"there is no player {player!r}")
        if not state.turns_left:
            raise OutOfTurn("the game is over")
        if action not in ACTIONS:
            raise IllegalAction(f"{action!r} is neither a walk nor a shot in one of 8 directions")

    def step(self, state: State, actions: Mapping[Player, Action | Fault]) -> State:
        """Resolve a turn; a player without a valid action stands still."""
        if not state.turns_left:
            return state
        answers = (actions.get(player) for player in state.players)
        return resolve(
            state, [answer if isinstance(answer, Action) else None for answer in answers]
        )

    def observe(self, state: State, player: Player | None) -> Json:
        """Return the state message; a player sees `history` turns, the referee none."""
        return state_message(state, 0 if player is None else state.history)

    def outcome(self, state: State) -> Outcome | None:
        """Return scores and ranks when no turn is left; equal scores share a rank."""
        if state.turns_left:
            return None
        scores: dict[Player, float] = {
            player: state.score(seat) for seat, player in enumerate(state.players)
        }
        ranked = sorted(scores.values(), reverse=True)
        ranks: dict[Player, int] = {
            player: 1 + ranked.index(score) for player, score in scores.items()
        }
        first = [player for player, rank in ranks.items() if rank == 1]
        return Outcome("turns_over", first[0] if len(first) == 1 else None, scores, ranks)

    def sample(self, state: State, player: Player, rng: Random) -> Action:
        """Return a random one of the sixteen actions."""
        return rng.choice(ACTIONS)
