"""Documents of the project as HTML, for pages of any width."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape


class Renderer(RendererHTML):
    """Makes tables and code scroll, also by keyboard, as they may be wider than a phone."""

    def table_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Begin a table."""
        return '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n'

    def table_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """End a table."""
        return "</table></div>\n"

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Return a code block, whatever its language."""
        return Markup('<pre tabindex="0"><code>{}</code></pre>\n').format(tokens[idx].content)

    fence = code_block

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Return the alt text of a picture: the server has none of the documentation's pictures."""
        return escape(tokens[idx].content)


MARKDOWN: Final = MarkdownIt("js-default", renderer_cls=Renderer)
"""Tables are enabled; HTML in the text is escaped."""

LOWEST: Final = 6
"""The lowest heading level of HTML."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A section of a document."""

    anchor: str
    words: Markup


def anchor_headings(tokens: Sequence[Token]) -> None:
    """Give each heading the anchor that repository hosts give it."""
    counts: Counter[str] = Counter()
    for opening, words in pairwise(tokens):
        if opening.type == "heading_open":
            anchor = re.sub(r"[^\w -]", "", words.content).lower().replace(" ", "-")
            opening.attrSet("id", f"{anchor}-{counts[anchor]}" if counts[anchor] else anchor)
            counts[anchor] += 1


def link_to(tokens: Sequence[Token], place_of: Callable[[str], str | None]) -> None:
    """Point links to the address that `place_of` returns; None turns a link into plain text."""
    for token in tokens:
        if token.children:
            token.children = linked(token.children, place_of)


def linked(words: Sequence[Token], place_of: Callable[[str], str | None]) -> list[Token]:
    """Return tokens with new link addresses; links without one become plain text."""
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
    """Move the headings of a text to levels from `top` down, without skipping one."""
    level = top - 1
    for token in tokens:
        if token.type == "heading_open":
            asked = top - 1 + int(token.tag[1:])
            level = min(level + 1, max(top, asked), LOWEST)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"


def sections(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Yield the sections of a document, without their subsections."""
    for opening, words in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h2":
            yield Heading(str(opening.attrGet("id")), inline(words.children or []))


def inline(words: Sequence[Token]) -> Markup:
    """Return the HTML of inline tokens."""
    return Markup(rendered([Token("inline", "", 0, children=list(words))]).strip())  # noqa: S704


def rendered(tokens: Sequence[Token]) -> Markup:
    """Return the HTML of tokens."""
    return Markup(MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}))  # noqa: S704
