"""Cups: league contests whose matches the hub's workers play."""
