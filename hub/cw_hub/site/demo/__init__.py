"""A demonstration hub to explore."""
