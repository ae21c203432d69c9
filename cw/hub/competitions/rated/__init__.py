"""Rated play: matches without end, and a rating for each bot."""
