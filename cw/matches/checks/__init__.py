"""Checks of a bot: protocol and matches, readiness, and findings for build servers."""
