"""The base of the planning strategies: they remember what they saw, and plan each turn."""

from __future__ import annotations

from random import Random

from cw.games.code_battle.rules.vision import View
from cw.games.code_battle.strategies.knowledge import Knowledge
from cw.games.code_battle.strategies.plan import TurnPlan
from cw.games.rules import Json, Player


class Commander:
    """A strategy that commands the bots of one slot in one match."""

    def __init__(self, player: Player, rng: Random) -> None:
        """Take a seat with nothing seen yet; `rng` makes all random choices."""
        self.rng = rng
        self.known: Knowledge | None = None

    def act(self, view: View) -> list[Json]:
        """Return the orders to all own bots as the entries of a reply."""
        if self.known is None:
            self.known = Knowledge(view)
        self.known.update(view)
        plan = TurnPlan(view, self.known)
        self.command(plan)
        return plan.entries()

    def command(self, plan: TurnPlan) -> None:
        """Give orders to the free bots of a plan."""
        raise NotImplementedError
