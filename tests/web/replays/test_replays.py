"""The pages of replays and what they give: names, sizes, conditions, and files that are none."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from cw.replays import document as replays_document
from cw.web import create_app, replay_store
from cw.web.settings import SiteSettings
from tests.browser.recorded import recorded

PACKED = {"Accept-Encoding": "gzip"}


def client_of(place: Path | None) -> FlaskClient:
    return create_app(SiteSettings(timeout=3, replays=place)).test_client()


def put(folder: Path, name: str, **members: Any) -> Path:
    """Put a replay of Paint into a folder, with some of its members changed."""
    file = folder / name
    document = recorded("paint") | members
    file.write_bytes(replays_document.encode(document, packed=name.endswith(".gz")))
    return file


def test_without_a_folder_a_file_can_be_opened_in_the_page() -> None:
    client = client_of(None)
    page = client.get("/replays/")
    assert page.status_code == 200
    assert 'type="file"' in page.text
    assert client.get("/replays/match").status_code == 404


@pytest.mark.parametrize("name", ["match.json", "match.json.gz"])
def test_the_document_is_that_of_the_file(tmp_path: Path, name: str) -> None:
    put(tmp_path, name)
    client = client_of(tmp_path)
    with client.get("/replays/match/document") as plain:
        assert plain.status_code == 200
        assert plain.mimetype == "application/json"
        assert plain.headers["Cache-Control"] == "no-cache"
        assert replays_document.decode(plain.data) == json.loads(
            replays_document.encode(recorded("paint"), packed=False)
        )
    with client.get("/replays/match/document", headers=PACKED) as answer:
        packed = answer.headers.get("Content-Encoding") == "gzip"
        assert packed == name.endswith(".gz")
        assert (gzip.decompress(answer.data) if packed else answer.data) == plain.data


@pytest.mark.parametrize("name", ["match.json", "match.json.gz"])
@pytest.mark.parametrize("headers", [{}, PACKED])
def test_an_unchanged_document_costs_a_304(
    tmp_path: Path, name: str, headers: dict[str, str]
) -> None:
    put(tmp_path, name)
    client = client_of(tmp_path)
    with client.get("/replays/match/document", headers=headers) as first:
        tag = first.headers["ETag"]
    with client.get("/replays/match/document", headers=headers | {"If-None-Match": tag}) as same:
        assert same.status_code == 304
        assert same.data == b""
    put(tmp_path, name, date="another")
    with client.get("/replays/match/document", headers=headers | {"If-None-Match": tag}) as other:
        assert other.status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "%2e%2e",
        "../secret",
        "..%2fsecret",
        "%2fetc%2fpasswd",
        ".hidden",
        "a%00b",
        "a" * 101,
        "-x",
    ],
)
def test_names_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "replays"
    folder.mkdir()
    put(tmp_path, "secret.json")
    put(folder, ".hidden.json")
    client = client_of(folder)
    assert client.get(f"/replays/{name}").status_code == 404
    assert client.get(f"/replays/{name}/document").status_code == 404


def test_only_plain_files_with_plain_names_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "replays"
    folder.mkdir()
    put(folder, "good.json")
    put(folder, "<b>bold.json")
    put(folder, "with space.json")
    put(folder, "notes.txt")
    (folder / "link.json").symlink_to(put(tmp_path, "outside.json"))
    (folder / "below.json").mkdir()
    (folder / "large.json").write_bytes(b" " * 1001 + (folder / "good.json").read_bytes())
    limit = (folder / "good.json").stat().st_size + 1000
    monkeypatch.setattr(replay_store, "LARGEST_FILE", limit)
    client = client_of(folder)
    page = client.get("/replays/").text
    assert re.findall(r'href="/replays/([^"]+)"', page) == ["good"]
    assert page.count("Unreadable:") == 5
    assert "&lt;b&gt;bold.json" in page
    assert "notes.txt" not in page
    for name in ("link", "below", "large"):
        assert client.get(f"/replays/{name}").status_code == 404


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"\x1f\x8b",
        b"\x1f\x8bnothing",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version": 2}',
        gzip.compress(b"null", mtime=0),
    ],
)
def test_what_is_no_replay_is_listed_with_the_reason(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    put(tmp_path, "good.json")
    page = client_of(tmp_path).get("/replays/")
    assert page.status_code == 200
    assert re.search(r"<h2>bad</h2>\s*<p><b>Unreadable:</b> [^<]{10,}\.</p>", page.text)
    assert 'href="/replays/bad"' not in page.text
    assert "/replays/good" in page.text


def test_a_folder_that_is_gone_is_an_empty_list(tmp_path: Path) -> None:
    page = client_of(tmp_path / "gone").get("/replays/")
    assert page.status_code == 200
    assert "No replays yet" in page.text


def test_a_changed_file_is_looked_into_again(tmp_path: Path) -> None:
    client = client_of(tmp_path)
    put(tmp_path, "match.json", date="2020-01-01T00:00:00Z")
    assert "2020-01-01 00:00" in client.get("/replays/").text
    put(tmp_path, "match.json", date="2021-12-31T00:00:00Z and more")
    assert "2021-12-31 00:00" in client.get("/replays/").text


def test_the_list_is_filtered(tmp_path: Path) -> None:
    put(tmp_path, "one.json", players=[{"player": "p1", "name": "Ada", "bot": "x"}])
    put(tmp_path, "two.json", game="hexagon")
    client = client_of(tmp_path)

    def names_for(query: str) -> set[str]:
        page = client.get(f"/replays/?{query}").text
        return {name for name in ("one", "two") if f'"/replays/{name}"' in page}

    assert names_for("") == {"one", "two"}
    assert names_for("game=hexagon") == {"two"}
    assert names_for("player=ada") == {"one"}
    assert names_for("player=<script>") == set()
    assert names_for("game=paint&player=ADA") == {"one"}
    assert names_for("game=hexagon&player=ada") == set()


@pytest.mark.parametrize("result", [{}, {"outcome": None}, {"outcome": 3}, {"outcome": {}}])
def test_a_match_without_an_outcome_is_not_over(tmp_path: Path, result: dict[str, Any]) -> None:
    put(tmp_path, "match.json", result=result)
    assert "not over" in client_of(tmp_path).get("/replays/").text


def test_one_file_is_all_that_is_shown(tmp_path: Path) -> None:
    put(tmp_path, "other.json")
    client = client_of(put(tmp_path, "with space.json"))
    assert client.get("/replays/replay").status_code == 200
    assert client.get("/replays/other").status_code == 404


def test_pages_forbid_inline_scripts_and_frames(tmp_path: Path) -> None:
    put(tmp_path, "match.json")
    client = client_of(tmp_path)
    for path in ("/replays/", "/replays/match"):
        policy = client.get(path).headers["Content-Security-Policy"]
        assert "script-src 'self';" in policy
        assert policy.endswith("frame-ancestors 'self'")
        assert "unsafe" not in policy
    embedded = client.get("/replays/match?embed=1")
    assert embedded.headers["Content-Security-Policy"].endswith("frame-ancestors *")
    assert "<header" not in embedded.text


def test_nothing_can_be_sent(tmp_path: Path) -> None:
    put(tmp_path, "match.json")
    client = client_of(tmp_path)
    assert client.post("/replays/").status_code == 403
    for path in ("/replays/match", "/replays/match/document"):
        assert client.post(path).status_code == 405
    for path in ("/replays/", "/replays/match", "/replays/match/document"):
        assert client.delete(path).status_code == 405


def test_a_folder_may_be_named_from_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "replays").mkdir()
    put(tmp_path / "replays", "match.json.gz")
    monkeypatch.chdir(tmp_path)
    client = client_of(Path("replays"))
    with client.get("/replays/match/document", headers=PACKED) as answer:
        assert answer.status_code == 200
        assert replays_document.decode(answer.data)["game"] == "paint"


def test_a_replay_leads_to_its_neighbours_in_the_list(tmp_path: Path) -> None:
    for number, name in enumerate(("old", "mid", "new")):
        os.utime(put(tmp_path, f"{name}.json"), (number, number))
    client = client_of(tmp_path)
    middle = client.get("/replays/mid").text
    assert 'data-previous="/replays/new"' in middle
    assert 'data-next="/replays/old"' in middle
    assert "data-previous" not in client.get("/replays/new").text
    assert "data-next" not in client.get("/replays/old").text
    assert "data-previous" not in client.get("/replays/mid?embed=1").text
