"""The pages on which a bot is written and tried."""
