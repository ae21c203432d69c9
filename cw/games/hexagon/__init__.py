"""Hexagon: chips multiply or jump on a hexagonal board, and take over what they touch."""
