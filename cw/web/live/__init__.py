"""Pages of matches played by the server, between bots and with people."""
