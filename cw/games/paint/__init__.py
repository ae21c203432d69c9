"""Paint: avatars walk and shoot simultaneously; whoever owns the most squares at the end wins.

"Rule book" and "rule N" in this package refer to docs/games/paint.md.
"""
