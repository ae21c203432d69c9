"""The bots of a rated competition: how each stands, what it has played, and its page."""
