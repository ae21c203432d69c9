"""What documents say about the repository: links, tests, commands, what is pinned and tried."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.typed import ROOT

OF_THE_HUB = ROOT / "hub"
"""Where another package may be, of which no document in docs/ knows."""


class Link(NamedTuple):
    """A link of a page to a file."""

    written: str
    file: Path
    anchor: str

    def leads_somewhere(self) -> bool:
        """Return whether the file is there, and has the heading."""
        if not self.anchor or not self.file.exists():
            return self.file.exists()
        headings = re.findall(r"^#+ (.*)$", self.file.read_text(encoding="utf-8"), re.M)
        return self.anchor in {
            re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings
        }

    def leads_to_the_hub(self) -> bool:
        """Return whether the file would be one of the hub."""
        return self.file.is_relative_to(OF_THE_HUB)


def links(page: Path) -> Iterator[Link]:
    """Yield the links of a page to files and headings."""
    for written in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = written.partition("#")
        if not path.startswith("http"):
            yield Link(written, (page.parent / path).resolve() if path else page, anchor)


def variables_in(sources: Iterable[Path]) -> set[str]:
    """Return the environment variables that modules name."""
    texts = (source.read_text(encoding="utf-8") for source in sources)
    return {name for text in texts for name in re.findall(r'"(CW_[A-Z_]+)"', text)}


def named_tests(text: str) -> list[str]:
    """Return the files of tests/ that a text names."""
    return re.findall(r"(?<![\w/])tests/[\w/]+\.py\b", text)


def named_commands(text: str) -> set[str]:
    """Return the commands of `cw` that a text calls."""
    return {*re.findall(r"\b(?:python -m cw|^\s*\$? ?cw) ([a-z]+)", text, re.M)}


COPYING = re.compile(r"""pip install (?:(?:-c|--constraint) \S+ )?["']?\.["'\s`\[]""")
"""Copies the code into the environment, where an editable install may be."""


def copies_the_code(message: Path) -> bool:
    """Return whether a page or a module tells its reader to replace an editable install."""
    return COPYING.search(message.read_text(encoding="utf-8")) is not None


def unpinned(project: Path) -> list[str]:
    """Return what a project needs and requirements.txt does not pin."""
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    names = re.findall(r'^  "([\w-]+)(?:\[\w+\])?>=', project.read_text(encoding="utf-8"), re.M)
    assert names
    return [name for name in names if not re.search(rf"^{name}(?:\[\w+\])?==", pinned, re.M)]


def targets_of_make(text: str) -> set[str]:
    """Return what a text makes."""
    return {*re.findall(r"(?:`|\$ |^    )make ([a-z-]+)", text, re.M)}


def says_untested(text: str) -> bool:
    """Return whether a text says that something is untested."""
    words = r"untested|nobody has (?:yet )?tried|(?:not|never) (?:been )?tested on"
    return re.search(words, text, re.I) is not None
