"""A bot for Hexagon that makes a random legal move: rewrite `choose`."""

from __future__ import annotations

import random

from hexagon import Board, Bot, Move, run


class RandomBot(Bot):
    """Makes any legal move, each equally likely."""

    def choose(self, board: Board, color: int, jumps: int) -> Move:
        """Give your move, as (move_from, move_to)."""
        return random.choice(board.legal_moves(color))


if __name__ == "__main__":
    run(RandomBot())
