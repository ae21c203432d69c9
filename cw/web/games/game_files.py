"""The files for the pages of a game from another package: text, picture, viewer.

The folder of such a game may contain `rules.md`, `card.png`, and `viewer/` with `viewer.js` and
all that it loads. Only files in `viewer/` are served.
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
"""Most bytes read of a game's rules."""

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
    """Return the path of a file in the folder of a game, or None.

    Also None for a name that leads out of the folder, even through a link.
    """
    entry = game_entries().get(game)
    folder = None if entry is None else files_of(entry)
    if folder is None or "\0" in name:
        return None
    root, file = folder.resolve(), (folder / name).resolve()
    return file if file.is_relative_to(root) and file.is_file() else None


def viewer_file(game: str, name: str) -> Path | None:
    """Return a file of a game's viewer that may be served, or None."""
    file = file_of(game, f"{VIEWER}/{name}")
    folder = None if file is None else file_of(game, f"{VIEWER}/{MODULE}")
    is_served = file is not None and folder is not None and file.is_relative_to(folder.parent)
    return file if is_served and file is not None and file.suffix in KINDS else None


def rules_text(game: str) -> str:
    """Return the text of the rules in a game's package, or ""."""
    file = file_of(game, "rules.md")
    if file is None:
        return ""
    with file.open("rb") as opened:
        return opened.read(LARGEST_TEXT).decode(errors="replace")


def text_of(game: str) -> str:
    """Return the document of a game, adding a title if needed; without a document, only a title.

    A game from another package has its document in its folder.
    """
    file: Path = asset("docs") / "games" / f"{game.replace('-', '_')}.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else rules_text(game)
    return text if text.startswith("# ") else f"# {game.replace('-', ' ').title()}\n\n{text}"


def game_title(game: str) -> str:
    """Return the name of a game, as in its document."""
    heading = text_of(game).partition("\n")[0].removeprefix("# ")
    return heading.partition(":")[0].strip()


def drawing_of(entry: GameEntry) -> Drawing | None:
    """Return how the server draws frames for the viewer: as SVG, as text, or not at all (None)."""
    if entry.picture is not None:
        return "svg"
    return None if entry.terminal is None else "text"


def viewer_games(address: str) -> dict[str, dict[str, Json]]:
    """Return how the viewer shows games of other packages: the words it uses, and who draws them.

    `address` is the address of a game's page, with `{}` for its name.
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
