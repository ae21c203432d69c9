"""Bots: registered, checked, uploaded, shown."""
