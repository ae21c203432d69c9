"""Rated competitions for the operator."""
