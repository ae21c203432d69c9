"""Hexagon: chips multiply or jump on a hexagonal board, and capture the chips that they touch.

"Rule book" and "rule N" in this package refer to docs/games/hexagon.md.
"""
