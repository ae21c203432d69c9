"""Pictures of replays: a moment of any game as SVG or PNG, and a whole match as GIF.

A game draws shapes in cells of its board (`cw/games/<game>/picture.py`), a caption is put below
them (`sheets`), and one of two painters makes a file of it (`svg`, `raster`).
"""
