"""The account pages over real HTTP: every text in its place, and what becomes of sessions."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.hub.site import PASSWORD, Site, Visitor, words_of


def errors_of(page: str) -> dict[str, str]:
    """Return the errors that a page shows, by the field they stand at."""
    found = re.findall(r'<p class="error" id="(\w+)-error">([^<]*)</p>', page)
    return {name: words.replace("&#39;", "'") for name, words in found}


def test_smoke(site: Site) -> None:
    ada = site.visitor()
    answer = ada.register("Ada")
    assert answer.status_code == 303, answer.text
    assert answer.headers["Location"] == "/ranking"
    page = ada.open("/ranking")
    assert "Ada" in page.text
    assert ada.is_player()
