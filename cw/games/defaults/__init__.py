"""Defaults for games without their own: wire protocol, checks, states as text."""
