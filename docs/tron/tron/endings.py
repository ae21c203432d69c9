"""The words for the results of Tron."""

from __future__ import annotations

from cw.author import Endings

ENDINGS = Endings(
    unit="square",
    reasons={
        "others_crashed": "all others crashed",
        "all_crashed": "the last riders crashed together",
    },
)
