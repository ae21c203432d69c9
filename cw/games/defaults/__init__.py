"""Defaults for games that bring none of their own: wire protocol, checks, states as text."""
