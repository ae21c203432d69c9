"""Code Battle: a growing number of bots on a torus gather energy, fight and raze cores, in fog.

"Rule book" and "rule N" in this package refer to docs/games/code_battle.md.
"""
