"""Shows a match in the terminal while it is played."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cw.arena.referee import MatchRecord
from cw.games.registry import load_terminal
from cw.matches.progress import MatchProgress, OnTurn
from cw.replays import document


@contextmanager
def watching(console: Console, delay: float) -> Iterator[OnTurn]:
    """Yield a callback that shows a match; `delay` is the seconds to wait after each turn."""
    with Live(console=console, auto_refresh=False, transient=True, screen=False) as live:

        def show(progress: MatchProgress) -> None:
            live.update(scene(progress.record), refresh=True)
            time.sleep(delay)

        yield show


def scene(record: MatchRecord) -> Group:
    """Render the board, the turn and the players."""
    frame = document.frame_of(record.game, record.state)
    names = "  ".join(f"{player}: {bot.name}" for player, bot in record.bots.items())
    return Group(
        load_terminal(record.game.name)(frame), Text(f"turn {len(record.turns)}   {names}")
    )
