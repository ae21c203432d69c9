"""The documents about a hub, beside those of the arena: what there is, and where links lead."""

from __future__ import annotations

import re

import pytest
from markupsafe import escape

from cw.web.documents import Library
from cw_hub.site.documents import OWN
from hub.tests.conftest import ON_SQLITE
from hub.tests.documents import DOCS
from hub.tests.sites import Site
from tests.typed import ROOT

pytestmark = ON_SQLITE

NAMES = [name for _, name, _ in OWN]


def file_of(name: str) -> str:
    return f"{name.removeprefix('hub/')}.md"


def test_the_documents_of_a_hub_are_listed_by_their_titles(site: Site) -> None:
    page = site.visitor().open("/docs/").text
    for name in NAMES:
        title = (DOCS / file_of(name)).read_text(encoding="utf-8").partition("\n")[0]
        assert f'<a href="/docs/{name}">{escape(title.removeprefix("# "))}</a>' in page


def test_every_link_of_a_document_of_a_hub_leads_to_a_page_and_a_heading(site: Site) -> None:
    visitor = site.visitor()
    for name in (*NAMES, *Library()):
        page = visitor.open(f"/docs/{name}")
        assert page.status_code == 200
        text = page.text.partition("<main")[2].partition("</main>")[0]
        for address, _, anchor in re.findall(r'href="(/[^"#]*|)(#([^"]*))?"', text):
            target = visitor.open(address or f"/docs/{name}")
            assert target.status_code == 200, f"{name}: {address}"
            assert not anchor or f'id="{anchor}"' in target.text, f"{name}: {address}#{anchor}"


def test_links_between_the_documents_of_a_hub_and_the_arena_stay_on_the_site(site: Site) -> None:
    page = site.visitor().open("/docs/hub/players").text
    assert 'href="/docs/hub/contests#rated-matches"' in page
    assert 'href="/docs/workshop"' in page
    assert 'href="/docs/api"' in page


@pytest.mark.parametrize("name", ["deploy", "players", "hub/deploy"])
def test_no_other_document_is_read_on_a_hub(site: Site, name: str) -> None:
    assert site.visitor().open(f"/docs/{name}").status_code == 404


def test_a_wheel_has_each_document_of_a_hub() -> None:
    packed = (ROOT / "hub" / "pyproject.toml").read_text(encoding="utf-8")
    assert [
        name for name in NAMES if f'"docs/{file_of(name)}" = "cw_hub/_assets' not in packed
    ] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_a_document_of_a_hub_says_to_the_tests_is_not_shown(site: Site, name: str) -> None:
    assert "&lt;!--" not in site.visitor().open(f"/docs/{name}").text
