"""The documents for players as pages: what there is, where links lead, and what is not shown."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient
from markupsafe import escape

from cw.assets import asset
from cw.web.documents import Library
from tests.typed import ROOT

NAMES = tuple(Library())


def test_all_documents_are_listed_by_their_titles(client: FlaskClient) -> None:
    page = client.get("/docs/").text
    for name in NAMES:
        title = asset(f"docs/{name}.md").read_text(encoding="utf-8").partition("\n")[0]
        assert f'<a href="/docs/{name}">{escape(title.removeprefix("# "))}</a>' in page


def test_every_link_of_a_document_leads_to_a_page_and_a_heading(client: FlaskClient) -> None:
    for name in NAMES:
        page = client.get(f"/docs/{name}")
        assert page.status_code == 200
        for address, _, anchor in re.findall(r'href="(/[^"#]*|)(#([^"]*))?"', page.text):
            if address.startswith("/static/"):
                continue
            target = client.get(address or f"/docs/{name}", follow_redirects=True)
            assert target.status_code == 200, f"{name}: {address}"
            assert not anchor or f'id="{anchor}"' in target.text, f"{name}: {address}#{anchor}"


@pytest.mark.parametrize(
    "name", ["nosuch", "deploy", "../README", "%2e%2e/README", "hub/../hub/players"]
)
def test_nothing_else_is_read(client: FlaskClient, name: str) -> None:
    assert client.get(f"/docs/{name}").status_code == 404


def test_links_to_files_that_are_no_pages_are_words(client: FlaskClient) -> None:
    page = client.get("/docs/kits").text
    assert "its README" in page
    assert "sample_bots/vectors/README.md" not in page


def test_a_wheel_has_each_document() -> None:
    packed = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert [name for name in NAMES if f'"docs/{name}.md" = "cw/_assets' not in packed] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_a_document_says_to_the_tests_is_not_shown(client: FlaskClient, name: str) -> None:
    assert "&lt;!--" not in client.get(f"/docs/{name}").text
