"""Images of replays: one turn of any game as SVG or PNG, and a whole match as an animated GIF.

A game draws shapes in cells of its board (`cw/games/<game>/picture.py`), `sheets` adds a caption
below, and one of two renderers (`svg`, `raster`) turns the result into a file.
"""
