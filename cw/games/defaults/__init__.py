"""What a game has that has nothing of its own: a wire protocol, checks, and states as text."""
