"""Comparisons of versions of a program: pairs of matches until a sequential test decides."""
