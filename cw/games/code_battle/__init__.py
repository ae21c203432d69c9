"""Code Battle: a growing number of bots on a torus gather energy, fight and raze cores, in fog.

`maps` holds the boards, `rules` plays on them, and `strategies` play by the rules; the modules
beside these folders are the parts that the registry names. Each imports only those before it.

"Rule book" and "rule N" in this package refer to docs/games/code_battle.md.
"""
