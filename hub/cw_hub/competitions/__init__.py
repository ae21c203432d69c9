"""Competitions: code shared by all formats; each subfolder is one format."""
