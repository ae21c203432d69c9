"""A hub to look around in."""
