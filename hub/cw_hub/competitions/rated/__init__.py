"""Rated play: endless matches, and a rating for each bot."""
