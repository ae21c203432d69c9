"""HOST: what the host of a tournament sees and does."""
