"""The files of a game from another package for its pages: text, picture, viewer.

In the folder of such a game may stand `rules.md`, `card.png`, and `viewer/` with `viewer.js` and
all that it loads. Only what stands in `viewer/` is served.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from cw.assets import asset
from cw.games.entry import GameEntry, files_of
from cw.games.registry import game_entries, installed_games, load_endings
from cw.games.rules import Json

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
"""The media types of a viewer's files, by the suffix of their names."""

Drawing = Literal["svg", "text"]


def file_of(game: str, name: str) -> Path | None:
    """Return a file in the folder of a game, None if there is none of that name.

    A name that leads out of the folder, even by a link, names no file.
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
    """Return the text of the rules in the package of a game, "" without one."""
    file = file_of(game, "rules.md")
    if file is None:
        return ""
    with file.open("rb") as opened:
        return opened.read(LARGEST_TEXT).decode(errors="replace")


def text_of(game: str) -> str:
    """Return the document of a game, with a title if it has none; a title only if there is none.

    That of a game of another package stands in its folder.
    """
    file: Path = asset("docs") / "games" / f"{game.replace('-', '_')}.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else rules_text(game)
    return text if text.startswith("# ") else f"# {game.replace('-', ' ').title()}\n\n{text}"


def game_title(game: str) -> str:
    """Return the name of a game, as in its document."""
    heading = text_of(game).partition("\n")[0].removeprefix("# ")
    return heading.partition(":")[0].strip()


def drawing_of(entry: GameEntry) -> Drawing | None:
    """Return how the server can draw frames for the viewer: as a picture, a text, or not at all."""
    if entry.picture is not None:
        return "svg"
    return None if entry.terminal is None else "text"


def viewer_games(address: str) -> dict[str, dict[str, Json]]:
    """Return how the viewer shows the games of other packages: in which words, and who draws them.

    `address` is that of the page of a game, with `{}` for its name.
    """
    games: dict[str, dict[str, Json]] = {}
    for game in installed_games():
        endings = load_endings(game.name)
        fields = games[game.name] = {
            "title": game_title(game.name),
            "reasons": dict(endings.reasons),
            "first": endings.first,
        }
        if viewer_file(game.name, MODULE):
            fields["module"] = f"{address.format(game.name)}{VIEWER}/{MODULE}"
        elif kind := drawing_of(game.entry):
            fields |= {"drawing": kind, "frames": f"{address.format(game.name)}frames"}
    return games
