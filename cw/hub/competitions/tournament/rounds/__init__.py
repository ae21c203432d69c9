"""The rounds of a tournament: opening them, their results, closing them, and the final."""
