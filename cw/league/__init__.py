"""Arithmetic on results: it knows no game and plays none."""
