"""League contests played by the workers of a hub."""
