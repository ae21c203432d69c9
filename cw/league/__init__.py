"""Arithmetic on results; independent of any game, and plays no matches."""
