"""Pictures of replays: one turn of any game as SVG or PNG, and a whole match as GIF.

A game draws shapes in cells of its board (`cw/games/<game>/picture.py`), a caption is added below
(`sheets`), and one of two painters turns the result into a file (`svg`, `raster`).
"""
