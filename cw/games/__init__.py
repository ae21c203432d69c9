"""The rules, codecs, protocols and strategies of all games: one folder per game."""
