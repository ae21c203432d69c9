"""Challenges: a player's bot meets a public bot in practice, once or in a series."""
