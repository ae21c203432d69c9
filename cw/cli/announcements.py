"""What a command says beside its results, each line once."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from cw.arena.bots import BotSpec
from cw.visible import visible


class Announcements:
    """Says how programs are isolated, and what else was to be said, each line once."""

    def __init__(self, console: Console) -> None:
        """Say nothing yet."""
        self._console = console
        self._said: set[str] = set()

    def __call__(self, bot: BotSpec, protection: str) -> None:
        """Say how a program is isolated."""
        self.tell([f"{bot.name}: {protection}"])

    def tell(self, lines: Sequence[str]) -> None:
        """Print the lines that are new."""
        for line in lines:
            if line not in self._said:
                self._said.add(line)
                self._console.print(Text(visible(line), "dim"))
