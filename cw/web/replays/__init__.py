"""Pages of replays: the list, the viewer, other forms, uploads."""
