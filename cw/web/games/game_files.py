"""What a game of another package brings for its pages: its text, its picture, its viewer.

In the folder of such a game may stand `rules.md`, `card.png`, and `viewer/` with `viewer.js` and
all that it loads. Only what stands in `viewer/` is served.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from cw.games.entry import GameEntry, files_of
from cw.games.registry import game_entries, installed_games

VIEWER: Final = "viewer"
MODULE: Final = "viewer.js"
LARGEST_TEXT: Final = 1024 * 1024
"""Bytes of the rules of a game that are read."""

KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
"""What a file of a viewer may be, by the end of its name."""

Drawing = Literal["svg", "text"]


def file_of(game: str, name: str) -> Path | None:
    """Return a file in the folder of a game, None if there is none of that name.

    A name that leads out of the folder, by links too, names no file.
    """
    entry = game_entries().get(game)
    folder = None if entry is None else files_of(entry)
    if folder is None or "\0" in name:
        return None
    root, file = folder.resolve(), (folder / name).resolve()
    return file if file.is_relative_to(root) and file.is_file() else None


def viewer_file(game: str, name: str) -> Path | None:
    """Return a file of the viewer of a game that may be served, None if there is none such."""
    file = file_of(game, f"{VIEWER}/{name}")
    folder = None if file is None else file_of(game, f"{VIEWER}/{MODULE}")
    is_served = file is not None and folder is not None and file.is_relative_to(folder.parent)
    return file if is_served and file is not None and file.suffix in KINDS else None


def rules_text(game: str) -> str:
    """Return the rules of a game as its package has written them down, "" if it has not."""
    file = file_of(game, "rules.md")
    if file is None:
        return ""
    with file.open("rb") as opened:
        return opened.read(LARGEST_TEXT).decode(errors="replace")


def drawing_of(entry: GameEntry) -> Drawing | None:
    """Return what the server can make of frames for the viewer: a picture, a text, or nothing."""
    if entry.picture is not None:
        return "svg"
    return None if entry.terminal is None else "text"


def viewer_games(address: str) -> dict[str, dict[str, str]]:
    """Return how the viewer shows the games of other packages: by a module, or by the server.

    `address` is that of the page of a game, with `{}` for its name.
    """
    games: dict[str, dict[str, str]] = {}
    for game in installed_games():
        if viewer_file(game.name, MODULE):
            games[game.name] = {"module": f"{address.format(game.name)}{VIEWER}/{MODULE}"}
        elif kind := drawing_of(game.entry):
            frames = f"{address.format(game.name)}frames"
            games[game.name] = {"drawing": kind, "frames": frames}
    return games
