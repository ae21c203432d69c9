"""Back-ups: write, read, and make one a day."""
