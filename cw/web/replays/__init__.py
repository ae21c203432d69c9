"""Pages of replays: the list, the viewer, other formats, uploads."""
