"""Checks of a bot: what they ask, whether it is ready, and findings for build servers."""
