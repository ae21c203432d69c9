"""Restarts recorded Code Battle matches (rule book, "Start"), also those on maps from files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from cw.games.code_battle.maps.library import is_file
from cw.games.code_battle.rules import CodeBattle
from cw.games.code_battle.rules.start import MATCH_OPTIONS, setting
from cw.games.code_battle.rules.state import Bot, Core, Node, PlayerStats, State
from cw.games.codec import Conduct, restarted
from cw.games.rules import Json


def match_again(rules: CodeBattle, start: State, seed: int, options: Mapping[str, Json]) -> State:
    """Return the start state of a recorded match; a map from a file is reused as recorded."""
    if not is_file(options.get("map")):
        return restarted(rules, start, seed, options)
    owned = [core.owner for core in start.cores]
    settings = {name: setting(name, options) for name in MATCH_OPTIONS}
    return replace(
        start,
        config=start.config._replace(**settings),
        turn=0,
        nodes=tuple(Node(node.tile, energy=False, timer=0) for node in start.nodes),
        cores=tuple(
            Core(number, core.tile, core.owner, active=True, last_spawn=0)
            for number, core in enumerate(start.cores)
        ),
        bots=tuple(Bot(number, core.tile, core.owner) for number, core in enumerate(start.cores)),
        next_bot_id=len(owned),
        stats=tuple(PlayerStats(score=owned.count(slot)) for slot in rules.players(start)),
        dead=(),
    )


CONDUCT: Final = Conduct(restart=match_again)
