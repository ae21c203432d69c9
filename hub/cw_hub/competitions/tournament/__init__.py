"""Tournaments of teams: rounds between the teams of a group, and a final."""
