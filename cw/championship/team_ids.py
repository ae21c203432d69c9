"""Team ids, derived from the names of folders."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import combining, normalize
from zlib import crc32

TEAM_ID: Final = re.compile(r"[A-Za-z0-9-]{1,39}")
OTHERS: Final = re.compile(r"[^A-Za-z0-9]+")
LONGEST: Final = 39

LETTERS: Final = str.maketrans(
    {"ß": "ss", "Æ": "Ae", "æ": "ae", "Œ": "Oe", "œ": "oe", "Ø": "O", "ø": "o", "Å": "A", "å": "a",
     "Ł": "L", "ł": "l", "Đ": "D", "đ": "d", "Ð": "D", "ð": "d", "Þ": "Th", "þ": "th", "ı": "i"}
)  # fmt: skip
"""Letters that Unicode does not decompose into an ASCII letter and a mark."""


def team_id(folder: str) -> str:
    """Return the id of the team of a folder: the folder's name, if it is a valid id.

    Otherwise letters lose their accents, and all other characters become hyphens. A name without
    Latin letters and digits becomes a number that depends on the name only.

    >>> team_id("Lea Müller"), team_id("ann-2")
    ('Lea-Muller', 'ann-2')
    """
    if TEAM_ID.fullmatch(folder):
        return folder
    composed = normalize("NFC", folder)
    parts = normalize("NFKD", composed.translate(LETTERS))
    plain = OTHERS.sub("-", "".join(sign for sign in parts if not combining(sign))).strip("-")
    # A checksum, as hashes of text differ from process to process.
    return plain[:LONGEST].strip("-") or f"team-{crc32(composed.encode(errors='replace')):08x}"
