"""The program's version, including the commit, and the packages that it requires."""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_path
from typing import Final

from cw import __version__
from cw.assets import PACKAGE, asset, is_checkout

PATIENCE = 5.0
"""Seconds to wait for Git to report the commit."""


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


PACKAGES: Final = (
    "aiohttp",
    "click",
    "filelock",
    "flask",
    "flask_cors",
    "jinja2",
    "markdown_it",
    "markupsafe",
    "msgspec",
    "numpy",
    "PIL",
    "requests",
    "rich",
    "urllib3",
    "waitress",
    "werkzeug",
)
"""The dependencies in pyproject.toml, by import name."""


@contextmanager
def packages_expected() -> Iterator[None]:
    """Run a block; if a dependency is missing, exit with a message on how to install them all.

    This only concerns checkouts: for a wheel, pip installs the dependencies.
    """
    try:
        yield
    except ModuleNotFoundError:
        missing = [name for name in PACKAGES if find_spec(name) is None]
        if not missing or not is_checkout():
            raise
        sys.exit(
            f"Circuit Wars needs packages that are not installed ({', '.join(missing)}):"
            f" in {PACKAGE.parent}, type\n  {what_to_type()}"
        )


def what_to_type() -> str:
    """Return the command that installs the packages: for this Python, or in a new environment."""
    python, install = shlex.quote(sys.executable), "-m pip install -c requirements.txt -e ."
    is_own = sys.prefix != sys.base_prefix
    if is_own or not Path(get_path("stdlib"), "EXTERNALLY-MANAGED").exists():
        return f"{python} {install}"
    # A system Python such as Debian's does not allow pip to install packages.
    if (PACKAGE.parent / ".venv").is_dir():
        return ". .venv/bin/activate"
    return f"{python} -m venv .venv && . .venv/bin/activate && python {install}"
