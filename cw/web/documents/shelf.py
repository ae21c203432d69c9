"""The documentation for players, from docs/."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from flask import url_for
from markupsafe import Markup

from cw.assets import asset
from cw.games.registry import game_entries
from cw.web.documents.markdown import (
    MARKDOWN,
    Heading,
    anchor_headings,
    link_to,
    rendered,
    sections,
)

SHELVES: Final[Mapping[str, Mapping[str, str]]] = {
    "Begin": {
        "first-bot": "Write a bot that beats the random player, for each of the five games.",
        "workshop": "Write a bot in the browser, next to its match; errors are marked in the code.",
        "kits": "Starter bots for each game, in eight languages.",
        "notebook": "Play matches in Jupyter, and watch them below the cell.",
    },
    "Get stronger": {
        "lab": "Find the losing move, compare versions, tune parameters, and test each push.",
        "strategies": "The built-in opponents, from random to expert, and how strong they are.",
        "envs": "Every game as a PettingZoo and Gymnasium environment; a training example.",
    },
    "Compete": {
        "teachers": "A championship in class: the lesson, the night, the morning after.",
        "championship": "Run a championship on your own machine: formats, ranking, tie-breaks.",
    },
    "Look up": {
        "faults": "Error messages of a bot that fails, by mistake and by game.",
        "default-protocol": "How bots of a new game communicate, over lines or HTTP.",
        "commands": "All commands of cw.",
        "replay": "The replay format: how to draw, replay and verify a match.",
        "viewer": "Watch matches and replays in the browser, and play by hand.",
        "sandbox": "How programs are isolated, and what they may use.",
        "glossary": "The terms of this site, one per concept.",
    },
    "Go further": {
        "add-a-game": "Create your own game: one folder and one line; the tests are included.",
        "server": "Run a server for others: rooms, names, settings, routes.",
    },
}
"""What readers want to do; for each, the names of its documents and a summary of each."""

RULES: Final = re.compile(r"docs/games/(\w+)\.md")
"""The path of the rules of a game."""

COMMENT: Final = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
"""A comment for the tests, on its own line of a document."""


@dataclass(frozen=True, slots=True)
class PlayersDocument:
    """A document as its page shows it."""

    name: str
    title: str
    text: Markup
    """The text without the title."""
    contents: tuple[Heading, ...]


class Library:
    """The documents of a site."""

    def __init__(self) -> None:
        """Hold the documents of the arena."""
        self.shelves = {heading: dict(documents) for heading, documents in SHELVES.items()}
        self._files = {
            name: (f"docs/{name}.md", asset(f"docs/{name}.md"))
            for documents in SHELVES.values()
            for name in documents
        }
        """The path in the repository, to which links are relative, and the file."""
        self._read: dict[str, PlayersDocument] = {}

    def add(self, heading: str, name: str, summary: str, place: str, file: Path) -> None:
        """Put a document on one of the shelves; `place` is its path in the repository."""
        self.shelves[heading][name] = summary
        self._files[name] = place, file

    def __contains__(self, name: str) -> bool:
        """Return whether there is a document of that name."""
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the documents."""
        return iter(self._files)

    def document(self, name: str) -> PlayersDocument:
        """Read a document once: documents do not change while a process runs."""
        if name not in self._read:
            self._read[name] = self._document(name)
        return self._read[name]

    def _document(self, name: str) -> PlayersDocument:
        place, file = self._files[name]
        tokens = MARKDOWN.parse(COMMENT.sub("", file.read_text(encoding="utf-8")))
        anchor_headings(tokens)
        link_to(tokens, partial(self._address, place=place))
        body = tokens[3:]
        return PlayersDocument(name, tokens[1].content, rendered(body), tuple(sections(body)))

    def _address(self, target: str, place: str) -> str | None:
        """Return the address of a link in a document, here or elsewhere, or None without a page."""
        if target.startswith(("http://", "https://")):
            return target
        file, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(place), file)) if file else place
        for name, (other, _) in self._files.items():
            if other == path:
                return url_for("docs.page", name=name, _anchor=anchor or None)
        rules = RULES.fullmatch(path)
        game = rules[1].replace("_", "-") if rules else ""
        if game in game_entries():
            return url_for("games.rules", game=game, _anchor=anchor or None)
        return None
