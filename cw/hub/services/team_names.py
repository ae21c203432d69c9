"""Names of teams and sandboxes: what may stand on pages, and their slugs in addresses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Final

from cw.errors import UsageError

LONGEST_TEAM: Final = 40
LONGEST_GROUP: Final = 32
LONGEST_SLUG: Final = 32
LONGEST_KEY: Final = 80

GROUP_WORDS: Final = frozenset({"events", "host", "join", "kit", "leave", "my-team"})
"""What stands in the place of a sandbox in addresses: no sandbox has such a slug."""

TEAM_WORDS: Final = frozenset({"ladder"})
"""What stands in the place of a team: `ladder.json`."""

SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def is_slug(text: str) -> bool:
    """Return whether a text may be the slug of a tournament."""
    return len(text) <= LONGEST_SLUG and SLUG.fullmatch(text) is not None


def clean_name(text: str, longest: int) -> str:
    """Return a name as pages show it: NFKC, each space single.

    Raises UsageError for an empty one, one that is too long, and one with signs that cannot be
    seen or that turn the direction of writing.
    """
    # Nothing grows more than by 18: what is far too long is not looked at.
    if len(text) > 20 * longest:
        raise UsageError(f"longer than {longest} characters")
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    if not name:
        raise UsageError("a name is missing")
    if not name.isprintable():
        raise UsageError("the name holds signs that cannot be seen")
    if len(name) > longest or len(name_key(name)) > max(longest, LONGEST_KEY):
        raise UsageError(f"longer than {longest} characters")
    return name


def name_key(name: str) -> str:
    """Return the form in which two names are one."""
    return unicodedata.normalize("NFKC", name.casefold())


def slug_for(name: str, said: str, taken: Collection[str], empty: str) -> str:
    """Return the slug that somebody has said, or one made from the name.

    Raises UsageError for one that is said and cannot be, or is taken.
    """
    if not said:
        return new_slug(name, taken, empty)
    if not is_slug(said) or said in taken:
        raise UsageError(f"the slug {said[:LONGEST_SLUG]} is taken or cannot be")
    return said


def new_slug(name: str, taken: Collection[str], empty: str) -> str:
    """Return the slug of a name: Latin letters, digits, hyphens; numbered if taken or empty."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_SLUG].strip("-")
    if stem and stem not in taken:
        return stem
    number = 2 if stem else 1
    while (slug := numbered(stem or empty, number)) in taken:
        number += 1
    return slug


def numbered(stem: str, number: int) -> str:
    """Return a slug with a number, no longer than a slug may be."""
    end = f"-{number}"
    return stem[: LONGEST_SLUG - len(end)].rstrip("-") + end
