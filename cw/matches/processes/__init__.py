"""Processes that play matches: one, several, what they are given, and what others may read."""
