"""The built-in strategies of Code Battle (docs/strategies.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cw.games.entry import LateStrategy

STRATEGIES: Final[Mapping[str, LateStrategy]] = {
    "random": LateStrategy(
        "cw.games.code_battle.strategies.simple:RandomBot",
        "Each bot holds with probability 0.2, or moves in a random direction.",
    ),
    "gatherer": LateStrategy(
        "cw.games.code_battle.strategies.simple:Gatherer",
        "Collects the energy that it can reach first, explores for more, and avoids all danger.",
    ),
    "rusher": LateStrategy(
        "cw.games.code_battle.strategies.simple:Rusher",
        "Runs to the nearest known enemy core, whatever the danger.",
    ),
    "guardian": LateStrategy(
        "cw.games.code_battle.strategies.strong:Guardian",
        "Guards its cores, and attacks with two or more bots together.",
    ),
    "swarm": LateStrategy(
        "cw.games.code_battle.strategies.simple:Swarm",
        "Gathers with fewer than four bots; with more it advances in one group.",
    ),
    "hunter": LateStrategy(
        "cw.games.code_battle.strategies.strong:Hunter",
        "Attacks isolated enemies in pairs; the other bots gather and explore.",
    ),
    "strategist": LateStrategy(
        "cw.games.code_battle.strategies.strong:Strategist",
        "Gathers, answers raids, and with eight bots or more attacks cores in a group.",
    ),
}
"""The strategies by name, from the simplest to the strongest."""
