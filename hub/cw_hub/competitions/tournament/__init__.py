"""Team tournaments: rounds between the teams of each group, and a final."""
