"""A bot for Paint that takes any of the 16 actions: rewrite `choose`.

Standard output belongs to the referee: print to standard error (`file=sys.stderr`).
"""

from __future__ import annotations

import random

from paint import ACTIONS, Action, Bot, State, run


class RandomBot(Bot):
    """Takes any of the 16 actions, each equally likely."""

    def choose(self, state: State) -> Action:
        """Give your action, as (type, direction)."""
        return random.choice(ACTIONS)


if __name__ == "__main__":
    run(RandomBot())
