"""Settings of bots: those that the arena reads, and those of the programs themselves."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from typing import Final

from cw.errors import UsageError

SETTINGS: Final = ("secret", "api_key", "username", "form")
SECRET_SETTINGS: Final = frozenset({"secret", "api_key"})
"""Settings that never appear in a specification, a replay or a report."""

OWN_SETTING: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""The name of a program's own setting; the program gets it as an environment variable."""

MISSPELT: Final = 0.75
"""Similarity to one of SETTINGS from which a name is taken for a typo: it may be a secret."""


def is_setting(key: str) -> bool:
    """Return whether a bot may have a setting of this name: one of ours, or its own."""
    return key in SETTINGS or (OWN_SETTING.fullmatch(key) is not None and not meant(key))


def meant(key: str) -> str:
    """Return "did you mean" with the similar setting; "" if none is similar."""
    near = [] if key in SETTINGS else get_close_matches(key, SETTINGS, 1, MISSPELT)
    return f"; did you mean {near[0]}?" if near else ""


def from_environment(value: str) -> str:
    """Return a value, or the environment variable that it names."""
    if not value.startswith("env:"):
        return value
    variable = value.removeprefix("env:")
    if variable not in os.environ:
        raise UsageError(f"the environment has no variable {variable}")
    return os.environ[variable]
