"""A bot for AI Code Battle that gives random orders: rewrite `choose`."""

from __future__ import annotations

import random

from code_battle import Bot, Match, Order, View, run


class RandomBot(Bot):
    """Lets one bot in five hold and sends the others anywhere."""

    def choose(self, match: Match, view: View) -> list[Order]:
        """Give your orders as (row, col, direction); bots without one hold."""
        movers = [tile for tile in view.mine() if random.random() >= 0.2]
        return [(row, col, random.choice("NESW")) for row, col in movers]


if __name__ == "__main__":
    run(RandomBot())
