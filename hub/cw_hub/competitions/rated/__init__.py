"""Rated competitions: bots are paired continuously, and every result changes their ratings."""
