"""The rounds of a tournament: opened, sent, closed and shown, with their results and the final."""
