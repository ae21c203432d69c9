"""What all pages of the hub share."""

from __future__ import annotations

from typing import Final

FLAGS: Final = "vendor/flag-icons-7.5.0"
"""The folder of the flags within static/: a file for each country, named by its two letters."""
