"""The documents that players read, as they stand in docs/."""

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
        "first-bot": "From nothing to a bot that beats random, for each of the five games.",
        "workshop": "A bot written in the browser, beside its match, with the line that failed.",
        "first-game-ai": "Circuit Wars: from random moves to a bot that thinks ahead.",
        "kits": "A bot to start from for each game, in eight languages.",
        "notebook": "Play matches in Jupyter, and watch them below the cell.",
    },
    "Get stronger": {
        "lost-match": "Ask a bot its questions again, and find the turn that lost the match.",
        "lab": "Is the new version stronger, which numbers are best, and why did it lose?",
        "strategies": "The built-in opponents from random to expert, and how strong they are.",
        "envs": "Every game for PettingZoo and Gymnasium, and a program that learns one.",
        "ci-of-a-bot": "Check a bot and let it play ten matches on each push.",
    },
    "Compete": {
        "hub/players": "A hub for players: an account, bots, practice, ratings.",
        "hub/contests": "The competitions of a hub: daily games, rated play, cups.",
        "hub/tournaments": "Tournaments of teams, from the groups to the final.",
        "championship": "Many teams on your own machine: formats, ranking, tie-breaks.",
    },
    "Look up": {
        "mistakes": "What the author of a bot that breaks reads, and what to do.",
        "faults": "Each mistake of a bot: its name, and the sentence that its author reads.",
        "default-protocol": "How bots of a new game communicate, over lines or HTTP.",
        "commands": "Everything that cw can do.",
        "replay": "The file of a match: draw it, replay it, verify it.",
        "viewer": "Matches and replays in the browser, and playing by hand.",
        "sandbox": "How programs of bots are isolated, and what they may use.",
        "api": "Programs that read a hub, and manage its bots.",
        "glossary": "One word for each thing.",
    },
    "Go further": {
        "add-a-game": "A game of your own: one folder and one line, and the tests come for free.",
        "server": "A server for a class: settings, rooms, what is refused.",
    },
}
"""What a reader wants to do, the names of the documents for it, and what each is about."""

NAMES: Final = tuple(name for documents in SHELVES.values() for name in documents)


COMMENT: Final = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
"""What a document says to the tests, in a line of its own."""


@dataclass(frozen=True, slots=True)
class PlayersDocument:
    """A document as its page shows it."""

    name: str
    """That of its file below docs/, without `.md`."""
    title: str
    text: Markup
    """All but the title."""
    contents: tuple[Heading, ...]


@lru_cache
def document(name: str) -> PlayersDocument:
    """Read one of NAMES, once: documents do not change while a process runs."""
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
    """Return where a link in a document leads: to a page here or elsewhere, None for no page."""
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
