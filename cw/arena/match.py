"""A match as a state machine without I/O, for clients that come to the server.

The caller supplies actions and the time; the match says which players still owe an action, and
until when.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic

from cw.errors import IllegalAction
from cw.games.rules import Action, Fault, Outcome, Player, Rules, State, View


@dataclass(frozen=True, slots=True)
class Turn(Generic[Action]):
    """The actions and faults handed to the rules in one step, and the seconds they took."""

    actions: Mapping[Player, Action | Fault]
    seconds: Mapping[Player, float]


@dataclass(slots=True)
class Match(Generic[State, Action, View]):
    """A match in progress. All times are seconds on one clock of the caller's choice."""

    game: Rules[State, Action, View]
    state: State
    limit: float | None
    """The time limit of a turn, or None."""
    began: float
    """When the current turn began, that is, when the turn before it was complete."""
    turns: list[Turn[Action]] = field(default_factory=list)
    """All turns so far."""
    _answers: dict[Player, Action | Fault] = field(default_factory=dict)
    _seconds: dict[Player, float] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the match, or None while it is running."""
        return self.game.outcome(self.state)

    @property
    def waiting(self) -> tuple[Player, ...]:
        """The players who still owe an action for the current turn."""
        return tuple(
            player for player in self.game.to_move(self.state) if player not in self._answers
        )

    @property
    def deadline(self) -> float | None:
        """When the current turn times out; None without a limit or if nobody owes an action."""
        return self.began + self.limit if self.limit is not None and self.waiting else None

    def submit(self, player: Player, action: Action, now: float) -> None:
        """Accept an action; an illegal one counts as the fault `illegal`.

        An action after the deadline is judged in the turn that follows the time-out, and ignored if
        that ended the match.
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
        """Accept a fault instead of an action, from any player at any time."""
        self.expire(now)
        if self.outcome is None:
            self._take(player, fault, now)

    def expire(self, now: float) -> None:
        """Record the fault `timeout` for all who owe an action, if the deadline has passed."""
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
        # A fault that nobody owed, such as a move out of turn, does not wait for the other players.
        if not owed or not self.waiting:
            self._step(now)

    def _step(self, now: float) -> None:
        """Pass the answers so far to the rules, and begin the next turn."""
        self.turns.append(Turn(self._answers, self._seconds))
        self.state = self.game.step(self.state, self._answers)
        self._answers, self._seconds = {}, {}
        self.began = now
