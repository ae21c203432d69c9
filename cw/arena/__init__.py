"""One match being played, whoever the players are."""
