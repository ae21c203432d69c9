"""Processes that play for a hub: they run strangers' programs, and know no database and no key."""
