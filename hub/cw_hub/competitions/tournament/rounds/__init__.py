"""The rounds of a tournament: opening, sending and closing, with their results and the final."""
