"""The journal of an experiment, as it is while a process writes it."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.patience import SECONDS


def matches(file: Path) -> list[dict[str, Any]]:
    """Return the matches that are written down, in their order; [] for no file."""
    if not file.exists():
        return []
    whole = [line for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    return [json.loads(line) for line in whole[1:]]


def wait_for(process: subprocess.Popen[str], file: Path, number: int) -> None:
    """Wait until the experiment of a process has so many matches in its journal."""
    end = time.monotonic() + 10 * SECONDS
    while len(matches(file)) < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
