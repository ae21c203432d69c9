"""Comparisons of program versions: pairs of matches until a sequential test decides."""
