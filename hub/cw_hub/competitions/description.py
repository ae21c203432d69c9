"""A competition's description: Markdown by its organiser, for pages and link previews."""

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
"""Maximum length of a description, in characters."""

LONGEST_SENTENCE: Final = 200
"""Maximum length of its first sentence in link previews, in characters."""

HEADINGS: Final = 2
"""The level of its highest heading, below the page's own."""

UNSEEN: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, lone surrogates, and characters that change the writing direction."""

PLACES: Final = re.compile("https?://|/(?!/)")
"""Allowed beginnings of link targets: other sites, or this one."""

NEXT_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])")


def checked(text: str) -> str:
    """Return a description in stored form; raise UsageError if it is invalid."""
    text = re.sub("\r\n?", "\n", text).strip()
    if len(text) > LONGEST:
        raise UsageError(f"the description has {len(text):,} characters, more than {LONGEST:,}")
    if UNSEEN.search(text):
        raise UsageError("the description contains invisible characters")
    return text


@lru_cache(maxsize=256)
def as_html(text: str) -> Markup:
    """Return a description as HTML; tags become text, and links lead only to web pages."""
    tokens = MARKDOWN.parse(text)
    link_to(tokens, place_of)
    begin_headings_at(tokens, HEADINGS)
    return rendered(tokens)


def place_of(target: str) -> str | None:
    """Return an address if links to it are allowed, or None."""
    return target if PLACES.match(target) else None


@lru_cache(maxsize=256)
def first_sentence(text: str) -> str:
    """Return the first sentence of the first paragraph as plain text, shortened if it is long.

    Returns "" if there is no paragraph.
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
    """Return the text of tokens without markup."""
    return "".join(token.content or " " * (token.type in BREAKS) for token in tokens)


BREAKS: Final = ("softbreak", "hardbreak")
