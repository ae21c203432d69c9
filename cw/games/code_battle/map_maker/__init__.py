"""The map maker of Code Battle: series of maps, the library that is curated, and their pictures."""

from cw.games.code_battle.map_maker.maker import CodeBattleMaps

__all__ = ["CodeBattleMaps"]
