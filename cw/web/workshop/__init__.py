"""The pages for writing and trying a bot."""
