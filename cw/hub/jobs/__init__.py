"""What the hub does beside answering requests: ticks, matches, checks, mail."""
