"""Bots: registration, checks, uploads, pages."""
