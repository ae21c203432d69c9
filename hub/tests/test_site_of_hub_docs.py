"""The documents of the hub are pages of the site of all documents."""

from __future__ import annotations

import pytest

from hub.tests.documents import DOCS, PAGES
from tests.documents_site import documents_site


@pytest.mark.thorough
def test_the_documents_of_the_hub_are_in_the_site(tmp_path_factory: pytest.TempPathFactory) -> None:
    site = documents_site(tmp_path_factory)
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    documents = {f"hub/{page.relative_to(DOCS).with_suffix('.html').as_posix()}" for page in PAGES}
    assert documents <= pages
    assert 'id="cw-hub-backup"' in (site / "reference/command-line.html").read_text("utf-8")
    assert 'href="hub/players.html"' in (site / "index.html").read_text("utf-8")
    assert 'href="../workshop.html"' in (site / "hub/players.html").read_text("utf-8")
