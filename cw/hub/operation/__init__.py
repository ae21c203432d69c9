"""What keeps a hub running: roles, ticks, back-ups, keys; it knows no subject."""
