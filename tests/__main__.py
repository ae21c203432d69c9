"""`python -m tests`: style, types, then all tests; further arguments go to pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "--quiet", "."),
    ("mypy",),
    ("mypy", "--platform", "win32", "cw"),
    ("mypy", "--platform", "darwin", "cw"),
)


def run(*command: str) -> bool:
    """Run a module of this Python in the repository; tell whether it was content."""
    print("+", *command, flush=True)  # noqa: T201
    return subprocess.call([sys.executable, "-m", *command], cwd=ROOT) == 0


def main() -> int:
    """Run everything, also after something has failed; 1 if anything has."""
    content = [run(*check) for check in CHECKS]
    content.append(run("pytest", "--numprocesses", "auto", *sys.argv[1:]))
    return 0 if all(content) else 1


if __name__ == "__main__":
    sys.exit(main())
