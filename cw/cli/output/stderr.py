"""Standard error, where a command prints everything except its results."""

from __future__ import annotations

from functools import cached_property
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from cw.errors import visible

if TYPE_CHECKING:
    from rich.console import Console


class Stderr:
    """Standard error as one console; rich is imported when the first line is printed."""

    @cached_property
    def console(self) -> Console:
        """The console that writes to standard error."""
        console: Console = resolve_name("cw.cli.output.stderr_console:StderrConsole")()
        return console

    def say(self, line: str, style: str = "", *, soft_wrap: bool = False) -> None:
        """Print a line literally; with `soft_wrap`, the terminal wraps it."""
        text = resolve_name("rich.text:Text")(visible(line), style)
        self.console.print(text, soft_wrap=soft_wrap)
