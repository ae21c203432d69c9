"""What a competition says of itself: Markdown of its organiser, as pages and links show it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from textwrap import shorten
from typing import Final

from markdown_it.token import Token
from markupsafe import Markup

from cw.errors import UsageError
from cw.web.documents.markdown import MARKDOWN, begin_headings_at, link_to, rendered

LONGEST: Final = 4000
"""Characters of a description."""

LONGEST_SENTENCE: Final = 200
"""Characters of its first sentence, where links are shared."""

HEADINGS: Final = 2
"""The level of its highest heading, as the page has one of its own."""

UNSEEN: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, halves of characters, and what turns the direction of writing."""

PLACES: Final = re.compile("https?://|/(?!/)")
"""How the addresses begin to which its links may lead: of other sites, or of this one."""

NEXT_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])")


def checked(text: str) -> str:
    """Return a description as it is kept; raise UsageError for one that cannot be."""
    text = re.sub("\r\n?", "\n", text).strip()
    if len(text) > LONGEST:
        raise UsageError(f"the description has {len(text):,} characters, more than {LONGEST:,}")
    if UNSEEN.search(text):
        raise UsageError("the description contains invisible characters")
    return text


@lru_cache(maxsize=256)
def as_html(text: str) -> Markup:
    """Return a description as HTML: tags in it are text, and links lead to web pages alone."""
    tokens = MARKDOWN.parse(text)
    link_to(tokens, place_of)
    begin_headings_at(tokens, HEADINGS)
    return rendered(tokens)


def place_of(target: str) -> str | None:
    """Return an address to which a link may lead, None for any other."""
    return target if PLACES.match(target) else None


@lru_cache(maxsize=256)
def first_sentence(text: str) -> str:
    """Return the first sentence of the first paragraph in plain words, cut off where it is long.

    "" for a description without a paragraph.
    """
    tokens = MARKDOWN.parse(text)
    paragraphs = (
        after.children or []
        for before, after in pairwise(tokens)
        if before.type == "paragraph_open"
    )
    words = " ".join(plain(next(paragraphs, [])).split())
    return shorten(NEXT_SENTENCE.split(words, 1)[0], LONGEST_SENTENCE, placeholder=" ...")


def plain(tokens: Sequence[Token]) -> str:
    """Return words without their marks."""
    return "".join(token.content or " " * (token.type in BREAKS) for token in tokens)


BREAKS: Final = ("softbreak", "hardbreak")
