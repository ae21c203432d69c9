"""Pages of the games: the list, how to play each, and its rules."""
