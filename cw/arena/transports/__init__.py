"""Transports between the arena and a bot: over pipes, or over HTTP."""
