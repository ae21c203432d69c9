"""Pages for the replays of a championship, beside its report; they work from disk."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Template

from cw.assets import asset
from cw.championship.journal import MATCHES
from cw.championship.report import REPLAYS
from cw.files import make_folder, write_whole
from cw.replays.document import decode
from cw.web.games.frames import needs_frames, packed_frames
from cw.web.replays.export import IMAGES, START, digest, environment, modules_of, read

ENDING: Final = ".json.gz"

LOADER: Final = """
document.addEventListener("DOMContentLoaded", () => {
  for (const [type, text] of [["importmap", MODULES], ["module", START]]) {
    const script = document.createElement("script");
    script.type = type;
    script.textContent = text;
    document.head.append(script);
  }
});
"""
"""Loads the viewer's modules from data URLs: a page on disk cannot load other files as modules."""


def write_replay_pages(championship: Path, report: Path) -> None:
    """Write a page for each replay without a current one; raise Failure if that fails."""
    pages = report / REPLAYS
    make_folder(pages)
    files = sorted((championship / MATCHES).glob(f"*{ENDING}"))
    due = [file for file in files if is_newer(file, page_of(file, pages))]
    if not due:
        return
    viewer = PackedViewer.of(decode(due[0].read_bytes())["game"])
    if viewer.write(pages):
        # The policy of a page admits one version of the viewer: write all pages again.
        due = files
    for file in due:
        write_whole(page_of(file, pages), viewer.page(stem_of(file), file.read_bytes()).encode())


@dataclass(frozen=True, slots=True)
class PackedViewer:
    """The viewer that the pages of a folder share."""

    game: str
    modules: str
    template: Template

    @staticmethod
    def of(game: str) -> PackedViewer:
        """Return this version's viewer for replays of a game."""
        template = environment(game).get_template("replay_in_report.html")
        return PackedViewer(game, modules_of(game), template)

    def write(self, pages: Path) -> bool:
        """Write the files that all pages share; return whether the script has changed."""
        is_new = renewed(pages / "viewer.js", script(self.modules))
        renewed(pages / "viewer.css", style())
        return is_new

    def page(self, name: str, replay: bytes) -> str:
        """Return the page of a replay: its data, and the code that loads the viewer."""
        scripts = f"'self' file: data: {digest(self.modules)} {digest(START)}"
        return self.template.render(
            policy=f"default-src 'none'; script-src {scripts}; style-src 'self' file:; {IMAGES}",
            name=name,
            frames=packed_frames(decode(replay)) if needs_frames(self.game) else "",
            data=b64encode(replay).decode(),
        )


def page_of(file: Path, pages: Path) -> Path:
    """Return the path of a replay's page."""
    return pages / f"{stem_of(file)}.html"


def stem_of(file: Path) -> str:
    """Return the name of a replay file without its ending."""
    return file.name.removesuffix(ENDING)


def renewed(file: Path, text: str) -> bool:
    """Write a file unless it already has this text; return whether it was written."""
    if file.exists() and read(file) == text:
        return False
    write_whole(file, text.encode())
    return True


def is_newer(file: Path, other: Path) -> bool:
    """Return whether `file` was written after `other`, or `other` does not exist."""
    return not other.exists() or file.stat().st_mtime_ns > other.stat().st_mtime_ns


def script(modules: str) -> str:
    """Return the script shared by all pages."""
    base = read(asset("static") / "base.js")
    texts = f"const MODULES = {json.dumps(modules)};\nconst START = {json.dumps(START)};\n"
    return f"{base}\n{texts}{LOADER}"


def style() -> str:
    """Return the CSS shared by all pages."""
    return "".join(read(asset("static") / name) for name in ("base.css", "viewer.css"))
