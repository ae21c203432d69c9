"""Code Battle: a growing number of bots on a torus gather energy, fight and raze cores, in fog.

`maps` contains the boards, `rules` the rules of play, and `strategies` the built-in strategies; the
modules next to these folders are the parts that the registry loads. Each imports only those before
it.

"Rule book" and "rule N" in this package refer to docs/games/code_battle.md.
"""
