"""The teams of a tournament: names, cards, bots and pages."""
