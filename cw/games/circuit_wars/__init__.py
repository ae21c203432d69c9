"""Circuit Wars: two players draw segments in turn; whoever closes an area owns its squares.

"Rule book" and "rule N" in this package refer to docs/games/circuit_wars.md.
"""
