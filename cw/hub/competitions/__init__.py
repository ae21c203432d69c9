"""Competitions: what all formats share; each folder in here is one format."""
