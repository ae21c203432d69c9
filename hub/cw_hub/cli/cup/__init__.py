"""Cups for the operator: a championship whose matches a hub plays."""
