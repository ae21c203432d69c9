"""The bots of a rated competition: standings, matches, and pages."""
