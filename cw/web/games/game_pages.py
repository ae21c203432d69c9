"""The text of a game's pages: docs/games/<game>.md as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from flask import url_for
from markdown_it.token import Token
from markupsafe import Markup

from cw.games.registry import game_entries
from cw.web.documents.markdown import (
    MARKDOWN,
    Heading,
    anchor_headings,
    inline,
    link_to,
    rendered,
    sections,
)
from cw.web.games.game_files import text_of

SHORT: Final = "in-short"
"""The anchor of the section with the rules in short: a list."""

FACTS: Final = ("Players:", "Bots:")
"""The bold first words of list items that are not rules."""


@dataclass(frozen=True, slots=True)
class GamePage:
    """The contents of a game's pages; empty where its document says nothing."""

    title: str
    """The name of the game."""
    heading: str
    """The title of its rules."""
    about: Markup
    """What the game is about: the first paragraph, without its element."""
    players: Markup
    bots: Markup
    short: tuple[Markup, ...]
    """The rules in short, sentence by sentence."""
    rules: Markup
    """The whole document except its title."""
    contents: tuple[Heading, ...]


def game_page(game: str) -> GamePage:
    """Read the document of a game; a game without one only has a name."""
    return page_from(text_of(game), game)


@lru_cache(maxsize=64)
def page_from(text: str, game: str) -> GamePage:
    """Render a document as HTML, once for each version of it."""
    tokens = MARKDOWN.parse(text)
    anchor_headings(tokens)
    link_to(tokens, partial(place_of, game=game))
    heading, body = tokens[1].content, tokens[3:]
    items = [split(item) for item in items_of(body, SHORT)]
    facts = {lead: words for lead, words in items if lead in FACTS}
    players, bots = (facts.get(fact, Markup()) for fact in FACTS)
    return GamePage(
        title=heading.partition(":")[0],
        heading=heading,
        about=rendered(body[1:2]) if body and body[0].type == "paragraph_open" else Markup(),
        players=players,
        bots=bots,
        short=tuple(words for lead, words in items if lead not in FACTS),
        rules=rendered(body),
        contents=tuple(sections(body)),
    )


def place_of(target: str, game: str) -> str | None:
    """Return the address of a link in the document of a game, or None if it has no page here."""
    if target.startswith(("http://", "https://")):
        return target
    file, _, anchor = target.partition("#")
    if file == "../strategies.md" and anchor in game_entries():
        return url_for("games.about", game=anchor, _anchor="strategies")
    other = PurePosixPath(file).stem.replace("_", "-") if file else game
    if file not in ("", f"{other.replace('-', '_')}.md") or other not in game_entries():
        return None
    return url_for("games.rules", game=other, _anchor=anchor or None)


def items_of(tokens: Sequence[Token], section: str) -> Iterator[Token]:
    """Yield the words of each item in a section's list."""
    inside = False
    for token, words in pairwise(tokens):
        if token.type == "heading_open":
            inside = token.attrGet("id") == section
        if inside and token.type == "paragraph_open" and token.hidden:
            yield words


def split(item: Token) -> tuple[str, Markup]:
    """Split an item into its bold first words ("" if it has none) and the rest."""
    words = item.children or []
    # An empty text precedes bold words.
    begun = [token for token in words if token.type != "text" or token.content]
    if len(begun) < 3 or begun[0].type != "strong_open":
        return "", rendered([item])
    return begun[1].content, inline(begun[3:])
