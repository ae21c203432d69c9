"""The rules of the games: values and pure functions, one folder per game."""
