"""Contests of the league that the workers of a hub play."""
