"""The rules of End of Codes, implementing the arena's `Rules` interface."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Literal

from cw.errors import IllegalAction, OutOfTurn
from cw.games.end_of_codes.rules.genesis import genesis
from cw.games.end_of_codes.rules.replies import read_reply
from cw.games.end_of_codes.rules.resolution import resolve
from cw.games.end_of_codes.state import DIRECTIONS, Intent, State
from cw.games.rules import Fault, Json, Outcome, Player

Reason = Literal["no_players", "all_dead", "last_standing", "round_cap"]


class EndOfCodes:
    """Any number of players; an action is the decoded reply to `/round`."""

    name = "end-of-codes"
    seats = range(1, 1001)

    def new(self, players: Json, seed: int, /, **options: Json) -> State:
        """Return the genesis; the options are genesis.OPTIONS."""
        return genesis(players, seed, options)

    def players(self, state: State) -> tuple[int, ...]:
        """Return all players by userid."""
        return tuple(player.userid for player in state.players)

    def to_move(self, state: State) -> tuple[Player, ...]:
        """Return all players not thrown out, including dead ones, until the game is over."""
        if reason(state) is not None:
            return ()
        return tuple(player.userid for player in state.players if player.fault is None)

    def check(self, state: State, player: Player, action: Json) -> None:
        """Raise IllegalAction, with the fault's name, if a reply gets its player thrown out."""
        if player not in self.to_move(state):
            raise OutOfTurn(f"player {player} owes no reply")
        orders = read_reply(state, int(player), action)
        if isinstance(orders, Fault):
            raise IllegalAction(orders.sentence, orders.kind, orders.expected, orders.actual)

    def step(self, state: State, actions: Mapping[Player, Json | Fault]) -> State:
        """Resolve a round (rule 2: faulty replies are found before anything else)."""
        intents: list[Intent] = []
        faults: dict[int, Fault] = {}
        for player in state.players:
            if player.fault is None and player.userid in actions:
                action = actions[player.userid]
                orders = (
                    action
                    if isinstance(action, Fault)
                    else read_reply(state, player.userid, action)
                )
                if isinstance(orders, Fault):
                    faults[player.userid] = orders
                else:
                    intents += orders
        return resolve(state, intents, faults)

    def observe(self, state: State, player: Player | None) -> State:
        """Return the state itself: all players see every round in full."""
        return state

    def outcome(self, state: State) -> Outcome | None:
        """Return the ranks: players who lived longer rank higher."""
        why = reason(state)
        if why is None:
            return None
        ends = {p.userid: state.round + 1 if p.died is None else p.died for p in state.players}
        ranks: dict[Player, int] = {
            userid: 1 + sum(other > end for other in ends.values()) for userid, end in ends.items()
        }
        scores: dict[Player, float] = {
            userid: sum(other < end for other in ends.values()) for userid, end in ends.items()
        }
        winner = min(state.living) if why == "last_standing" else None
        return Outcome(why, winner, scores, ranks)

    def sample(self, state: State, player: Player, rng: Random) -> Json:
        """Return a random reply in which some of the player's creatures act."""
        creatures = state.ids[(state.owners == player) & (state.hp > 0)].tolist()
        return {
            "intent": [
                {
                    "creatureid": creature,
                    "action": rng.choice(("move", "attack")),
                    "direction": rng.choice(tuple(DIRECTIONS)),
                }
                for creature in creatures
                if rng.random() < 0.8
            ]
        }


def reason(state: State) -> Reason | None:
    """Return why the game is over, or None if it is not (rule book, "End")."""
    alive = len(state.living)
    if not state.players:
        return "no_players"
    if alive < 2:
        return "last_standing" if alive else "all_dead"
    return "round_cap" if state.round >= state.max_rounds else None
