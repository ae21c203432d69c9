"""Rated competitions in the hands of the operator."""
