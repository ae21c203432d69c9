"""The teams of a tournament: their names, cards, bots and pages."""
