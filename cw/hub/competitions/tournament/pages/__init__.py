"""The public pages of a tournament: ladders, teams, events, and how a team joins."""
