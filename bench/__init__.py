"""Benchmarks of the arena: ratios to yardsticks that are measured in the same run."""
