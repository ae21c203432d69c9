"""Daily games over time: the games of a month, and the history of players and bots."""
