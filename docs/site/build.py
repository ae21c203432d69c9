"""Build the documentation site: `python docs/site/build.py [OPTION...] FOLDER`.

The options are those of Sphinx. Pages of docs/ are at the top of the site; those of hub/docs, if
present, are below hub/.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from sphinx.cmd.build import main

ROOT: Final = Path(__file__).resolve().parents[2]
LINK: Final = re.compile(r"(?<=\]\()(?!\w+:)[^)\s#]+\.md(?=[)#])")
FOLDERS: Final = {"docs": "", "hub/docs": "hub"}
"""Folders of documents by their paths in the repository, and their places in the site."""

SINGLE: Final = {
    "SECURITY.md": "reporting.md",
    "sample_bots/vectors/README.md": "reference/vectors.md",
}
"""Other documents that are pages."""

STANDS: Final = {"README.md": "index.md"}
"""A document that is no page, and the page that stands for it."""

PICTURES: Final = frozenset({".gif", ".png"})
MENU: Final = """
```{toctree}
:caption: The hub
:hidden:

hub/index
```
"""
"""What the first page of the site has if the pages of hub/docs are there."""


def documents() -> Iterator[tuple[str, str]]:
    """Yield the path in the repository and the place in the site of each page and picture."""
    yield from SINGLE.items()
    for folder, place in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in PICTURES | {".md"}:
                inside = file.relative_to(ROOT / folder).as_posix()
                yield f"{folder}/{inside}", str(PurePosixPath(place, inside))


def as_in_the_site(text: str, path: str, places: dict[str, str]) -> str:
    """Return the text of a page with the links that lead to the same pages in the site."""

    def link(match: re.Match[str]) -> str:
        target = os.path.normpath(f"{path}/../{match[0]}").replace(os.sep, "/")
        if target not in places:
            return match[0]
        return os.path.relpath(places[target], f"{places[path]}/..").replace(os.sep, "/")

    return LINK.sub(link, text)


def gather(source: Path) -> None:
    """Write the pages and pictures of the site into a folder."""
    pages = dict(documents())
    for path, place in pages.items():
        file = source / place
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix in PICTURES:
            shutil.copy(ROOT / path, file)
        else:
            text = (ROOT / path).read_text(encoding="utf-8")
            file.write_text(as_in_the_site(text, path, pages | STANDS), encoding="utf-8")
    if "hub/index.md" in pages.values():
        with (source / "index.md").open("a", encoding="utf-8") as index:
            index.write(MENU)


def build(*arguments: str) -> int:
    """Make the site; return the exit code of Sphinx."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "docs")
        gather(source)
        conf = str(Path(__file__).parent)
        return main(["--conf-dir", conf, str(source), *arguments])


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(build(*sys.argv[1:]))
