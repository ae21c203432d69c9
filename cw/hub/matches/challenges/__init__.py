"""Challenges: a bot of a player meets a public bot in practice, once or in a series."""
