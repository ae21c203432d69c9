"""The documentation for players, from docs/."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
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
        "hub/players": "A hub for players: accounts, bots, practice, ratings.",
        "hub/contests": "The competitions of a hub: daily games, rated matches, cups.",
        "hub/tournaments": "Tournaments of teams, from the groups to the final.",
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
        "api": "Read a hub and manage bots from a program.",
        "glossary": "The terms of this site, one per concept.",
    },
    "Go further": {
        "add-a-game": "Create your own game: one folder and one line; the tests are included.",
        "server": "Run a server for others: rooms, names, settings, routes.",
    },
}
"""What readers want to do; for each, the names of its documents and a summary of each."""

NAMES: Final = tuple(name for documents in SHELVES.values() for name in documents)


COMMENT: Final = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
"""A comment for the tests, on its own line of a document."""


@dataclass(frozen=True, slots=True)
class PlayersDocument:
    """A document as its page shows it."""

    name: str
    """The path of its file below docs/, without `.md`."""
    title: str
    text: Markup
    """The text without the title."""
    contents: tuple[Heading, ...]


@lru_cache
def document(name: str) -> PlayersDocument:
    """Read one of NAMES; cached, because documents do not change while a process runs."""
    text = asset(f"docs/{name}.md").read_text(encoding="utf-8")
    tokens = MARKDOWN.parse(COMMENT.sub("", text))
    anchor_headings(tokens)
    link_to(tokens, partial(place_of, name=name))
    body = tokens[3:]
    return PlayersDocument(
        name=name,
        title=tokens[1].content,
        text=rendered(body),
        contents=tuple(sections(body)),
    )


def place_of(target: str, name: str) -> str | None:
    """Return the address of a link in a document, here or elsewhere, or None without a page."""
    if target.startswith(("http://", "https://")):
        return target
    file, _, anchor = target.partition("#")
    path = (
        posixpath.normpath(posixpath.join(posixpath.dirname(name), file)) if file else f"{name}.md"
    )
    other, ending = posixpath.splitext(path)
    game = other.removeprefix("games/").replace("_", "-")
    if ending == ".md" and other in NAMES:
        return url_for("docs.page", name=other, _anchor=anchor or None)
    if ending == ".md" and other.startswith("games/") and game in game_entries():
        return url_for("games.rules", game=game, _anchor=anchor or None)
    return None
