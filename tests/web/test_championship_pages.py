"""The page of a championship: what it shows, and that it shows nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from cw.web.championship_routes import championship_app
from tests.championship.contests import built_in, cw


def test_the_page_shows_what_is_played_and_nothing_else(tmp_path: Path) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "greedy"))
    out = tmp_path / "out"
    assert cw("run", file, "--out", out, "--size", 3, "--format", "round-robin").exit_code == 0
    client = championship_app(out).test_client()
    assert client.get("/").location == "/championship/"
    page = client.get("/championship/")
    assert "greedy" in page.text
    assert "<script" not in page.text
    assert "script-src" not in page.headers["Content-Security-Policy"]
    names = [path.name for path in (out / "games").iterdir()]
    assert len(names) == 2
    for name in names:
        assert f'href="games/{name}"' in page.text
        with client.get(f"/championship/games/{name}") as answer:
            assert answer.status_code == 200
    for name in ("../results.jsonl", "..%2fresults.jsonl", "nothing.log", ".lock"):
        assert client.get(f"/championship/games/{name}").status_code == 404
    with (out / "results.jsonl").open("ab") as torn:
        torn.write(b'{"torn')
    assert json.loads(client.get("/championship/report.json").text)["played"] == 1
    assert (out / "results.jsonl").read_bytes().endswith(b'{"torn')


def test_the_page_of_another_game(tmp_path: Path) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "greedy", "walker"))
    out = tmp_path / "out"
    arguments = ("--game", "paint", "--format", "free-for-all", "--option", "turns=5")
    assert cw("run", file, "--out", out, *arguments).exit_code == 0
    client = championship_app(out).test_client()
    page = client.get("/championship/")
    assert "paint, format free-for-all, 3 matches played" in page.text
    for file in (out / "games").iterdir():
        stem = file.name.removesuffix(".json.gz")
        assert f'href="games/{file.name}"' in page.text
        assert f'href="games/{stem}.html"' in page.text
        watched = client.get(f"/championship/games/{stem}.html")
        assert watched.status_code == 200
        assert "viewer/main.js" in watched.text
    for name in ("../results.html", "..%2fresults.html", "nothing.html"):
        assert client.get(f"/championship/games/{name}").status_code == 404
