"""Changes of ratings: why a match has changed them, in sentences."""
