"""Many matches: who plays whom, how often, and what is kept."""
