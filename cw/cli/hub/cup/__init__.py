"""Cups in the hands of the operator: a championship whose matches a hub plays."""
