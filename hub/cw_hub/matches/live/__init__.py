"""Matches in progress: streamed line by line from the workers, and shown to viewers."""
