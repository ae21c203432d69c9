"""The languages of uploaded programs and their versions, as reported by workers."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Mapping
from typing import Final

from sqlalchemy.orm import Session

from cw.kits import LANGUAGES
from cw_hub.clock import Clock
from cw_hub.operation.health import heartbeats

ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "javascript": ("node", "--version"),
    "php": ("php", "--version"),
    "ruby": ("ruby", "--version"),
    "go": ("go", "version"),
    "java": ("javac", "--version"),
    "c": ("cc", "-dumpfullversion"),
    "cpp": ("c++", "-dumpfullversion"),
}
"""The command that prints the version of each language's tool; Python is our own."""

NUMBER: Final = re.compile(r"(?<!\d)\d+(\.\d+)+")
PATIENCE: Final = 10.0
"""Seconds that such a command may take."""


def installed() -> dict[str, str]:
    """Return the versions of the languages that this machine runs, by the names that kits use."""
    versions = {
        name: version_of(command)
        for name, command in ASKED.items()
        if not LANGUAGES[name].missing()
    }
    return {"python": platform.python_version()} | {
        name: version for name, version in versions.items() if version
    }


def version_of(command: tuple[str, ...]) -> str:
    """Return the version that a command prints, or "" if it is missing or prints none."""
    try:
        output = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    number = NUMBER.search(output.decode(errors="replace"))
    return number[0] if number else ""


def offered(session: Session, clock: Clock) -> dict[str, str]:
    """Return the versions of the languages that live workers run, by the names that kits use."""
    reports = [beat.figures.languages for beat in heartbeats.live(session, clock)]
    return {
        name: next(versions[name] for versions in reports if name in versions)
        for name in LANGUAGES
        if any(name in versions for versions in reports)
    }


def titled(versions: Mapping[str, str]) -> dict[str, str]:
    """Return versions of languages by their titles for people."""
    return {LANGUAGES[name].title: version for name, version in versions.items()}
