"""Matches while workers play them: told line by line, and shown to whoever watches."""
