"""Sizes of maps on which every group is tried."""

from __future__ import annotations

SIZES = [
    (2, 60, 60), (2, 31, 45), (2, 30, 41), (2, 45, 45),
    (3, 60, 60), (3, 31, 33), (3, 33, 31), (3, 40, 30),
    (4, 60, 60), (4, 31, 31), (4, 30, 44), (4, 120, 30),
    (6, 60, 60), (6, 33, 40), (6, 40, 33), (6, 30, 32),
]  # fmt: skip
"""Every group on even and odd sizes, as far as it has them."""
