"""The console for standard error; separate from `stderr`, as rich takes long to load."""

from __future__ import annotations

import errno

from rich.console import Console


class StderrConsole(Console):
    """Standard error, whose reader may leave: that is an error like others, and not the end."""

    def __init__(self) -> None:
        """Draw on standard error."""
        super().__init__(stderr=True)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; rich itself would silence standard output and exit with 1."""
        raise BrokenPipeError(errno.EPIPE, "nobody reads standard error")
