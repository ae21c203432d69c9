"""`cw serve` as its own process, with what it writes to its log."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    address: str
    log: Path

    def lines(self) -> list[str]:
        """Return what it has printed since it was ready."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return text.partition(READY)[2].splitlines()


READY = "Stop with Ctrl-C.\n"
"""The last line that it prints before it serves."""


@contextmanager
def serving_process(folder: Path, *options: str) -> Iterator[Served]:
    """Run `cw serve` on a free port while the block runs."""
    log = folder / "server.log"
    command = [sys.executable, "-m", "cw", "serve", "--port", "0", "--no-replays", *options]
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith("Monitor: "), log.read_text()
            yield Served(first.removeprefix("Monitor: ").rstrip("/\n"), log)
        finally:
            process.terminate()
            process.communicate()
