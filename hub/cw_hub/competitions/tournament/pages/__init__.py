"""The public pages of a tournament: ladders, teams, events, and joining."""
