"""The documents for players as pages."""
