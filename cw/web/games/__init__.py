"""Pages of the games: the list, how each is played, its rules."""
