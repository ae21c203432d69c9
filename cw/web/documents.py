"""The documentation pages for players: Markdown rendering, links, and the library of documents."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from flask import Blueprint, abort, current_app, render_template, url_for
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from cw.assets import asset
from cw.games.registry import game_entries


class Renderer(RendererHTML):
    """Renders tables and code as scrollable boxes, as they may be wider than a phone screen.

    They can also be scrolled by keyboard.
    """

    def table_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Return the start of a table."""
        return '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n'

    def table_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Return the end of a table."""
        return "</table></div>\n"

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Return a code block, ignoring its language."""
        return Markup('<pre tabindex="0"><code>{}</code></pre>\n').format(tokens[idx].content)

    fence = code_block

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Return an image's alt text, as the server has none of the documentation's images."""
        return escape(tokens[idx].content)


MARKDOWN: Final = MarkdownIt("js-default", renderer_cls=Renderer)
"""Tables are enabled; HTML in the text is escaped."""

LOWEST: Final = 6
"""The lowest heading level of HTML."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A section heading of a document, for its table of contents."""

    anchor: str
    words: Markup


def anchor_headings(tokens: Sequence[Token]) -> None:
    """Give each heading the anchor that code hosting sites give it."""
    counts: Counter[str] = Counter()
    for opening, words in pairwise(tokens):
        if opening.type == "heading_open":
            anchor = re.sub(r"[^\w -]", "", words.content).lower().replace(" ", "-")
            opening.attrSet("id", f"{anchor}-{counts[anchor]}" if counts[anchor] else anchor)
            counts[anchor] += 1


def link_to(tokens: Sequence[Token], place_of: Callable[[str], str | None]) -> None:
    """Set each link to the URL returned by `place_of`; None turns a link into plain text."""
    for token in tokens:
        if token.children:
            token.children = linked(token.children, place_of)


def linked(words: Sequence[Token], place_of: Callable[[str], str | None]) -> list[Token]:
    """Return tokens with new link URLs; links without one become plain text."""
    linked_tokens: list[Token] = []
    led: list[bool] = []
    for token in words:
        if token.type == "link_open":
            place = place_of(str(token.attrGet("href")))
            led.append(place is not None)
            if place is not None:
                token.attrSet("href", place)
        if token.type not in ("link_open", "link_close") or led[-1]:
            linked_tokens.append(token)
        if token.type == "link_close":
            led.pop()
    return linked_tokens


def begin_headings_at(tokens: Sequence[Token], top: int) -> None:
    """Move a text's headings to levels from `top` down, without skipping a level."""
    level = top - 1
    for token in tokens:
        if token.type == "heading_open":
            asked = top - 1 + int(token.tag[1:])
            level = min(level + 1, max(top, asked), LOWEST)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"


def sections(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Yield a document's sections, without their subsections."""
    for opening, words in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h2":
            yield Heading(str(opening.attrGet("id")), inline(words.children or []))


def inline(words: Sequence[Token]) -> Markup:
    """Return the HTML of inline tokens."""
    return Markup(rendered([Token("inline", "", 0, children=list(words))]).strip())  # noqa: S704


def rendered(tokens: Sequence[Token]) -> Markup:
    """Return the HTML of tokens."""
    return Markup(MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}))  # noqa: S704


SHELVES: Final[Mapping[str, Mapping[str, str]]] = {
    "Get started": {
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
    "Reference": {
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
"""The shelves, named by what readers want to do; each maps document names to summaries."""

RULES: Final = re.compile(r"docs/games/(\w+)\.md")
"""The path of a game's rules."""

COMMENT: Final = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
"""A comment for the tests, on a separate line of a document."""


@dataclass(frozen=True, slots=True)
class PlayersDocument:
    """A document in the form shown on its page."""

    name: str
    title: str
    text: Markup
    """The text without the title."""
    contents: tuple[Heading, ...]


class Library:
    """The documents of a site."""

    def __init__(self) -> None:
        """Create a library with the arena's documents."""
        self.shelves = {heading: dict(documents) for heading, documents in SHELVES.items()}
        self._files = {
            name: (f"docs/{name}.md", asset(f"docs/{name}.md"))
            for documents in SHELVES.values()
            for name in documents
        }
        """The path in the repository, to which links are relative, and the file."""
        self._read: dict[str, PlayersDocument] = {}

    def add(self, heading: str, name: str, summary: str, place: str, file: Path) -> None:
        """Add a document to one of the shelves; `place` is its path in the repository."""
        self.shelves[heading][name] = summary
        self._files[name] = place, file

    def __contains__(self, name: str) -> bool:
        """Return whether there is a document with that name."""
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the documents."""
        return iter(self._files)

    def document(self, name: str) -> PlayersDocument:
        """Return a document, read only once: documents do not change while a process runs."""
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
        """Return the URL for a link in a document, here or elsewhere; None if there is no page."""
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


routes = Blueprint("docs", __name__, url_prefix="/docs")


@routes.get("/")
def index() -> str:
    """Render the list of documents."""
    return render_template("documents.html", library=_library())


@routes.get("/<path:name>")
def page(name: str) -> str:
    """Render a document."""
    if name not in _library():
        abort(404, "there is no such document")
    return render_template("document.html", document=_library().document(name))


def _library() -> Library:
    library: Library = current_app.extensions["documents"]
    return library
