"""The checks of a bot in a game without its own."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from cw.errors import IllegalAction
from cw.games.checks import CheckReport, Trial
from cw.games.codec import Game
from cw.games.defaults.protocol import Questions
from cw.games.play_options import Moves
from cw.games.rules import Fault, Player
from cw.games.wire import Referee, Transport

STEPS: Final = ("answers its first turn", "answers its second turn", "answers its third turn")
FLUSH: Final = "flush standard output after each line, and print everything else to stderr"
FORM: Final = (
    'answer each line with one line {"turn": N, "action": ACTION}, with the N of the question,'
    " or POST /act with status 200 and that object; docs/default-protocol.md has an example"
)


class DefaultChecks:
    """A few questions one by one, then a whole match against each built-in strategy."""

    def __init__(self, game: Game, strategies: Sequence[str], moves: Moves | None = None) -> None:
        """Prepare the checks; `strategies` lists the weakest first."""
        self.rules = game.rules
        self.moves = moves
        others = max(1, game.rules.seats.start - 1)
        self.trials: Sequence[Trial] = tuple(
            Trial(f"plays a whole match against {name}", {}, (name,) * others)
            for name in strategies
        )

    def steps(self, transport: Transport) -> int:
        """Return 3, in matches in which the bot has that many turns."""
        return len(STEPS)

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Ask the bot for a few actions in a match whose other players move at random."""
        number = max(2, self.rules.seats.start)
        referee.begin(self.rules.new(number, 0))
        questions, rng = Questions(referee, self.moves), Random(0)
        for name in STEPS:
            if not self.reach(questions, player, rng):
                return
            answer = (await questions.ask((player,)))[player]
            problem = self.problem(referee, player, answer)
            if not report.step(name, problem, fix_for(problem)):
                return
            questions.apply(self.by_chance(referee, player, rng) | {player: answer})

    def reach(self, questions: Questions, player: Player, rng: Random) -> bool:
        """Play on until the player is to move; return False if the match ends first."""
        referee = questions.referee
        while self.rules.outcome(referee.state) is None:
            if player in self.rules.to_move(referee.state):
                return True
            questions.apply(self.by_chance(referee, player, rng))
        return False

    def by_chance(self, referee: Referee, player: Player, rng: Random) -> dict[Player, object]:
        """Return a random action for everyone else who is to move."""
        others = [other for other in self.rules.to_move(referee.state) if other != player]
        return {other: self.rules.sample(referee.state, other, rng) for other in others}

    def problem(self, referee: Referee, player: Player, answer: object) -> Fault | None:
        """Return what is wrong with an answer, including illegal actions, or None."""
        if isinstance(answer, Fault):
            return answer
        try:
            self.rules.check(referee.state, player, answer)
        except IllegalAction as error:
            return Fault(error.kind, str(error))
        return None


def fix_for(problem: Fault | None) -> str:
    """Return how to fix a fault, or "" if there is none."""
    if problem is None:
        return ""
    if problem.kind == "timeout" and "answered turn" in problem.detail:
        return "copy turn from the question into its answer"
    if problem.kind == "timeout":
        return f"answer within the time limit, 1 s by default, and {FLUSH}"
    if problem.kind == "illegal":
        return "check the action against the rules before you send it; `cw step` tries a rule"
    if problem.kind in ("startup", "crashed", "disconnected"):
        return "run it by hand with the same input, and read what it prints"
    return f"{FORM}; {FLUSH}"
