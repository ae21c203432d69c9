"""A match as a state machine without I/O: told who did what and when, it says who still owes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic

from cw.errors import IllegalAction
from cw.games.rules import Action, Fault, Outcome, Player, Rules, State, View


@dataclass(frozen=True, slots=True)
class Turn(Generic[Action]):
    """What was handed to the rules at once, and how long each player took for it."""

    actions: Mapping[Player, Action | Fault]
    seconds: Mapping[Player, float]


@dataclass(slots=True)
class Match(Generic[State, Action, View]):
    """A game in progress. Times are seconds on one clock of the caller's choice.

    A turn's clock runs from the moment the turn before it was complete. `limit` is the time for a
    turn; None means that there is none.
    """

    game: Rules[State, Action, View]
    state: State
    limit: float | None
    began: float
    """When the current turn began."""
    turns: list[Turn[Action]] = field(default_factory=list)
    _answers: dict[Player, Action | Fault] = field(default_factory=dict)
    _seconds: dict[Player, float] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended, None while it is played."""
        return self.game.outcome(self.state)

    @property
    def waiting(self) -> tuple[Player, ...]:
        """Who still owes an action for the current turn."""
        return tuple(
            player for player in self.game.to_move(self.state) if player not in self._answers
        )

    @property
    def deadline(self) -> float | None:
        """When the current turn is over for who has not acted; None if no clock runs."""
        return self.began + self.limit if self.limit is not None and self.waiting else None

    def submit(self, player: Player, action: Action, now: float) -> None:
        """Take an action; one that the rules do not allow counts as the fault `illegal`.

        An action that comes after the deadline is not applied: the turn has timed out by then.
        """
        self.expire(now)
        if self.outcome is not None:
            return
        try:
            self.game.check(self.state, player, action)
        except IllegalAction as error:
            self._take(player, Fault("illegal", str(error)), now)
        else:
            self._take(player, action, now)

    def fault(self, player: Player, fault: Fault, now: float) -> None:
        """Take a fault in place of an action, from whoever it comes and whenever."""
        self.expire(now)
        if self.outcome is None:
            self._take(player, fault, now)

    def expire(self, now: float) -> None:
        """Let everyone time out whose deadline has passed."""
        deadline = self.deadline
        if deadline is not None and now > deadline:
            for player in self.waiting:
                self._answers[player] = Fault("timeout", f"no action within {self.limit:g} s")
                self._seconds[player] = deadline - self.began
            self._step(deadline)

    def _take(self, player: Player, answer: Action | Fault, now: float) -> None:
        owed = player in self.waiting
        self._answers[player] = answer
        self._seconds[player] = now - self.began
        if not owed or not self.waiting:
            self._step(now)

    def _step(self, now: float) -> None:
        """Hand the answers to the rules: all that are owed, or a fault that nobody owed."""
        self.turns.append(Turn(self._answers, self._seconds))
        self.state = self.game.step(self.state, self._answers)
        self._answers, self._seconds = {}, {}
        self.began = now
