"""Daily games: all ready bots of a game play one match at a set time of day."""
