"""Explanations of rating changes, in sentences."""
