"""A bot for Circuit Wars that draws a random free segment: rewrite `choose`."""

from __future__ import annotations

import random

from circuit_wars import Board, Bot, Segment, run


class RandomBot(Bot):
    """Draws any free segment, each equally likely."""

    def choose(self, board: Board, player: int) -> Segment:
        """Give the free segment to draw, as (x, y, border)."""
        return random.choice(board.free_segments())


if __name__ == "__main__":
    run(RandomBot())
