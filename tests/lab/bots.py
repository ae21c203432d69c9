"""Small bots that the lab compares and tunes."""

from __future__ import annotations

from pathlib import Path

PAINTER = """
import os
import random

DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]
PATIENCE = float(os.environ.get("BOT_SET_PATIENCE", "7"))


def agent(view, configuration):
    player = configuration["player"]
    # By the position: matches are alike if they start alike, as they do not on the board `rocks`.
    lots = random.Random(str(view))
    if lots.random() < abs(PATIENCE - 7) / 10:
        return {"type": "walk", "direction": [-1, -1]}
    row, col = view["player_positions"][player]
    fresh = [d for d in DIRECTIONS if is_fresh(view, player, row + d[0], col + d[1])]
    return {"type": "walk", "direction": list(lots.choice(fresh or DIRECTIONS))}


def is_fresh(view, player, row, col):
    on_board = 0 <= row < view["height"] and 0 <= col < view["width"]
    return on_board and view["colors"][row][col] != player
"""
"""Paints best where its setting `patience` is 7; each unit away costs a tenth of its turns."""

PATIENCE = """
[patience]
start = 2
low = 0
high = 10
step = 2
"""
"""The numbers of PAINTER."""


def painter(folder: Path, name: str = "painter.py") -> str:
    """Write PAINTER, and return its argument."""
    file = folder / name
    file.write_text(PAINTER, encoding="utf-8")
    return f"python:{file}"
