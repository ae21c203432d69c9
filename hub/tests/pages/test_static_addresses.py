"""Static files: kept by browsers for good, under addresses that change with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cw_hub.pages.files import CACHE_CONTROL, version_of
from hub.tests.sites import Site

SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@SQLITE
def test_a_page_names_files_that_may_be_kept_for_good(site: Site) -> None:
    visitor = site.visitor()
    addresses = re.findall(r'(?:src|href)="(/static/[^"]+)"', visitor.open("/").text)
    assert len(addresses) > 4
    for address in addresses:
        answer = visitor.open(address)
        header = answer.headers["Cache-Control"]
        assert (answer.status_code, header) == (200, CACHE_CONTROL), address
    (script,) = (address for address in addresses if address.endswith("/hub/main.js"))
    assert not re.search(r"^import ", visitor.open(script).text, re.M)


@SQLITE
def test_a_file_of_another_version_is_not_kept(site: Site) -> None:
    visitor = site.visitor()
    for address in (f"/static/{'0' * 16}/base.css", "/static/base.css"):
        answer = visitor.open(address)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-cache")
    version = site.app.extensions["files"]
    for name in ("nothing.css", "nothing.js", "../templates/base.html"):
        answer = visitor.open(f"/static/{version}/{name}")
        assert answer.status_code == 404
        assert "immutable" not in answer.headers.get("Cache-Control", "")


def test_each_file_and_its_name_count(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("x")
    first = version_of(tmp_path)
    (tmp_path / "a.css").rename(tmp_path / "b.css")
    second = version_of(tmp_path)
    (tmp_path / "b.css").write_text("y")
    assert len({first, second, version_of(tmp_path)}) == 3
