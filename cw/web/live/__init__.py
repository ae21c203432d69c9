"""Pages of matches that the server plays: with bots, and with people."""
