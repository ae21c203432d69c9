"""The bot of End of Codes of the player who asks: its pages."""
