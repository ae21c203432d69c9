"""Checks of bots: asked for, run by workers and again and again; how well bots are."""
