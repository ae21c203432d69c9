"""Names of teams and groups, and their slugs in addresses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Final

from cw.errors import UsageError
from cw_hub.pages import names
from cw_hub.pages.names import LONGEST_SLUG, is_slug

LONGEST_TEAM: Final = 40
LONGEST_GROUP: Final = 32
LONGEST_KEY: Final = 80

GROUP_WORDS: Final = frozenset({"events", "host", "join", "kit", "leave", "my-team"})
"""Path segments beside those of groups; no group may have such a slug."""

TEAM_WORDS: Final = frozenset({"ladder"})
"""Path segments beside those of teams, as in `ladder.json`."""


def clean_name(text: str, longest: int) -> str:
    """Return a cleaned name; raise UsageError if it, or its key, is invalid."""
    name = names.clean_name(text, longest)
    if len(name_key(name)) > max(longest, LONGEST_KEY):
        raise UsageError(f"longer than {longest} characters")
    return name


def name_key(name: str) -> str:
    """Return the key by which names are compared; equal keys mean the same name."""
    return unicodedata.normalize("NFKC", name.casefold())


def slug_for(name: str, slug: str, used: Collection[str], empty: str) -> str:
    """Return the requested slug, or for "" a new one derived from the name.

    Raises UsageError if the slug is malformed or already used.
    """
    if not slug:
        return new_slug(name, used, empty)
    if not is_slug(slug) or slug in used:
        raise UsageError(f"the slug {slug[:LONGEST_SLUG]} is taken or invalid")
    return slug


def new_slug(name: str, used: Collection[str], empty: str) -> str:
    """Derive a slug from a name: Latin letters, digits, hyphens; numbered if used or empty."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_SLUG].strip("-")
    if stem and stem not in used:
        return stem
    number = 2 if stem else 1
    while (slug := numbered(stem or empty, number)) in used:
        number += 1
    return slug


def numbered(stem: str, number: int) -> str:
    """Append a number to a slug, within the maximum length."""
    end = f"-{number}"
    return stem[: LONGEST_SLUG - len(end)].rstrip("-") + end
