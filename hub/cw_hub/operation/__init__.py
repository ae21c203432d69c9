"""Infrastructure that keeps a hub running: roles, ticks, backups, keys; no domain logic."""
