"""Processes that play for a hub: they run strangers' programs, without database or keys."""
