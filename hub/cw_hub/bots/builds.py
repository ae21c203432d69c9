"""Compiled programs in the object store: each is built once, and stored beside its source."""

from __future__ import annotations

from typing import Final

from cw.games.rules import Json
from cw_hub.players.messages import Built
from cw_hub.store.objects import ObjectStore

SUFFIX: Final = ".built"
"""Suffix of the key of a compiled program, after the key of its source."""

WARNINGS: Final = ".warnings"
"""Suffix of the key of the compiler's warnings about a program that it built."""

STEP: Final = "builds without a warning"
"""The step of a check that shows the compiler's warnings to the author."""

ADVICE: Final = "the program plays: read what the compiler says, and fix it in the next version"


def find(objects: ObjectStore, key: str) -> bytes | None:
    """Return the program compiled from the source with a key, or None."""
    return objects.get(key + SUFFIX)


def store(objects: ObjectStore, key: str, built: Built) -> None:
    """Store a compiled program beside its source, which has this key. Idempotent."""
    # Warnings first: once the program exists, so do all of its warnings.
    objects.put_new(key + WARNINGS, built.warnings.encode())
    objects.put_new(key + SUFFIX, built.data)


def warning_steps(objects: ObjectStore, key: str) -> list[dict[str, Json]]:
    """Return the check step with the compiler's warnings about a source.

    Empty if there are none, or if nothing has to be built.
    """
    warnings = (objects.get(key + WARNINGS) or b"").decode()
    step = {"step": STEP, "ok": False, "problem": warnings, "fix": ADVICE, "warning": True}
    return [step] if warnings else []


def source_key(key: str) -> str:
    """Return the key of the source that an object was made from, or the key itself."""
    return key.removesuffix(SUFFIX).removesuffix(WARNINGS)
