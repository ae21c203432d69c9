"""What the thinking strategies have in common: they remember, then make a plan."""

from __future__ import annotations

from random import Random

from cw.games.code_battle.knowledge import Knowledge
from cw.games.code_battle.plan import Plan
from cw.games.code_battle.vision import View
from cw.games.rules import Json, Player


class Commander:
    """A strategy in one slot of one match."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat."""
        self.rng = rng
        self.known: Knowledge | None = None

    def act(self, view: View) -> list[Json]:
        """Take in the view and give the orders of all own bots."""
        if self.known is None:
            self.known = Knowledge(view)
        self.known.update(view)
        plan = Plan(view, self.known)
        self.command(plan)
        return plan.entries()

    def command(self, plan: Plan) -> None:
        """Return the free bots of a plan their orders."""
        raise NotImplementedError
