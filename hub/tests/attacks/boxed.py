"""Matches of programs that try to get out of their sandbox, made with the arena itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hub.tests.attacks import escapes
from tests.arena.attacking import RANDOM, match, stderr, written


def answers(group: str, folder: Path, game: str = "paint") -> dict[str, str]:
    """Return how each try of a group of escapes.py ends that a program makes in a match."""
    bot = written(folder, "attacker", f"{escapes.SOURCE.decode()}\nreport({group}())\n")
    options: dict[str, Any] = {"turns": 1} if game == "paint" else {}
    lines = stderr(match(game, bot, RANDOM, **options))["attacker"].splitlines()
    return dict(line.split(": ") for line in lines)
