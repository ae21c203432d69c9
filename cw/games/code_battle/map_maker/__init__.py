"""The map maker of Code Battle: series of maps, the curated library, and map pictures."""

from cw.games.code_battle.map_maker.maker import CodeBattleMaps

__all__ = ["CodeBattleMaps"]
