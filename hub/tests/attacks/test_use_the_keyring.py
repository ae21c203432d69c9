"""A program leaves a message in the kernel's keyring, which no namespace separates."""

from __future__ import annotations

from pathlib import Path

from hub.tests.attacks.boxed import answers
from tests.tools import NEEDS_BUBBLEWRAP


@NEEDS_BUBBLEWRAP
def test_a_program_has_no_keyring(tmp_path: Path) -> None:
    rings = [f"key of the {name}" for name in ("thread", "process", "session", "user")]
    ways = (*rings, "request of a key", "new session of keys")
    assert answers("keyring", tmp_path) == dict.fromkeys(ways, "EPERM")
