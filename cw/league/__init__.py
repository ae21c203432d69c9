"""Arithmetic on outcomes: it knows no game and plays none."""
