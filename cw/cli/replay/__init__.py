"""`cw replay`: shows, verifies and converts replays, and repeats their questions to a bot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from cw.cli.groups import CommandEntry, LazyGroup

COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "ask": CommandEntry(
        "cw.cli.replay.ask:ask_command",
        "Ask BOT the questions of the match in the replay FILE.",
    ),
    "export": CommandEntry(
        "cw.cli.replay.export:export",
        "Convert the replay FILE to a page, an animation or a picture.",
    ),
    "line": CommandEntry(
        "cw.cli.replay.line:line", "Print a turn as a line for `cw step`, or for `cw observe`."
    ),
    "open": CommandEntry(
        "cw.cli.replay.open:open_command", "Watch the replay FILE in the browser, until Ctrl-C."
    ),
    "show": CommandEntry(
        "cw.cli.replay.show:show", "Draw a turn of the replay FILE, and list what happened in it."
    ),
    "verify": CommandEntry(
        "cw.cli.replay.verify:verify",
        "Verify replays by playing them again by the rules.",
    ),
}


@click.group("replay", cls=LazyGroup, places=COMMANDS)
def replay_group() -> None:
    """Show, verify and export replays, and ask bots again.

    \b
      cw play paint builtin:greedy builtin:walker --seed 7 --out match.json.gz
      cw replay show match.json.gz --turn 20
      cw replay open match.json.gz
      cw replay verify match.json.gz
      cw replay ask match.json.gz ./bot.py --turn 20

    Turns are counted from 1, in End of Codes from 0. Files in Code Battle's own format work too.
    """
