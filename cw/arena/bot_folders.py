"""Which program of a folder is the bot."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cw.errors import UsageError

CLIENT: Final = "game_ai.py"
"""The program of a client of Circuit Wars."""

BOT: Final = "bot"


def program_in(folder: Path, game: str, otherwise: str = "") -> Path:
    """Return the program of a bot; raise UsageError unless there is just one.

    `otherwise` ends the sentence: how else the bot can be named.
    """
    is_client = game == "circuit-wars"
    if is_client and (folder / CLIENT).is_file():
        return (folder / CLIENT).absolute()
    stems = (BOT, Path(CLIENT).stem) if is_client else (BOT,)
    programs = sorted(file for file in folder.iterdir() if file.is_file() and file.stem in stems)
    if len(programs) != 1:
        names = ", ".join(file.name for file in programs) or "none"
        wanted = f"{CLIENT}, bot.py, bot.js, ..." if is_client else "bot.py, bot.js, ..."
        raise UsageError(
            f"{folder} must contain one program ({wanted}; there is {names}){otherwise}"
        )
    return programs[0].absolute()
