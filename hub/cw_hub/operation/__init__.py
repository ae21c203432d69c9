"""Infrastructure that keeps a hub running: roles, ticks, back-ups, keys; no domain knowledge."""
