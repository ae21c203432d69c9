"""Playing matches and series of any game, from their specification to their result."""
