"""One match of any game, from its specification to its result, and series of them."""
