"""The version of this program, down to the commit."""

from __future__ import annotations

import platform
import subprocess

from cw import __version__
from cw.assets import PACKAGE, asset

PATIENCE = 5.0
"""Seconds to wait for Git to name a commit."""


def commit() -> str | None:
    """Return the short commit hash of the checkout or wheel, or None if unknown."""
    written = PACKAGE / "_assets" / "commit"
    if written.exists():
        return written.read_text(encoding="ascii").strip() or None
    if not asset(".git").exists():
        return None
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(
            command,
            cwd=PACKAGE.parent,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def version_line() -> str:
    """Return the line that `cw --version` prints, for use in bug reports.

    For example "cw 1.0.0 (commit 1a2b3c4, Python 3.12.1, Linux)".
    """
    parts = [f"Python {platform.python_version()}", platform.system()]
    origin = commit()
    if origin:
        parts.insert(0, f"commit {origin}")
    return f"cw {__version__} ({', '.join(parts)})"
