"""Checks of bots: requested, run by workers, repeated regularly; and the health of bots."""
