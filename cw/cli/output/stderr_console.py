"""The console for standard error; a module of its own, because rich takes long to import."""

from __future__ import annotations

import errno

from rich.console import Console


class StderrConsole(Console):
    """Standard error, whose reader may close the pipe: an error like others, and not an exit."""

    def __init__(self) -> None:
        """Write to standard error."""
        super().__init__(stderr=True)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; rich itself would silence standard output and exit with 1."""
        raise BrokenPipeError(errno.EPIPE, "nobody reads standard error")
