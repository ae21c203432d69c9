"""One match in progress, between bots of any kind."""
