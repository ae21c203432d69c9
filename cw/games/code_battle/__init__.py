"""Code Battle: a growing number of bots on a torus gather energy, fight and raze cores, in fog.

`maps` holds the boards, `rules` plays on them, `strategies` play by the rules; the modules beside
these folders are the parts that the registry names. Each knows only what stands before it.

"Rule book" and "rule N" in this package refer to docs/games/code_battle.md.
"""
