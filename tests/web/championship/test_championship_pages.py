"""The page of a championship: what it shows, and that it shows nothing else."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from cw.championship.journal import Progress, live_file, stem_of
from cw.errors import UsageError
from cw.league.fixtures import Fixture
from cw.line_files import alone
from cw.replays import document as replays_document
from cw.web import create_app
from cw.web.championship import championship_app
from cw.web.settings import SiteSettings
from tests.championship.contests import built_in, cw


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play a small championship."""
    folder = tmp_path_factory.mktemp("championship")
    file, out = built_in(folder / "teams.toml", ("random", "greedy")), folder / "out"
    assert cw("run", file, "--out", out, "--size", 3, "--format", "round-robin").exit_code == 0
    return out


@pytest.fixture
def out(played: Path, tmp_path: Path) -> Path:
    """The folder of a championship, for one test alone."""
    return shutil.copytree(played, tmp_path / "out")


def test_the_page_shows_what_is_played_and_nothing_else(out: Path) -> None:
    client = championship_app(out).test_client()
    assert client.get("/").location == "/championship/"
    page = client.get("/championship/")
    assert "is the champion" in page.text
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    names = [path.name for path in (out / "games").iterdir()]
    assert len(names) == 2
    for name in names:
        assert f'href="/championship/games/{name}"' in page.text
        with client.get(f"/championship/games/{name}") as answer:
            assert answer.status_code == 200
    for name in ("../results.jsonl", "..%2fresults.jsonl", "nothing.log", ".lock"):
        assert client.get(f"/championship/games/{name}").status_code == 404
    for path in ("/reg/eve", "/status", "/games/", "/rooms/a/"):
        assert client.get(path).status_code == 404
    with (out / "results.jsonl").open("ab") as torn:
        torn.write(b'{"torn')
    assert json.loads(client.get("/championship/report.json").text)["played"] == 1
    assert (out / "results.jsonl").read_bytes().endswith(b'{"torn')


@pytest.mark.thorough
def test_the_page_of_another_game_leads_to_every_replay(tmp_path: Path) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "greedy", "walker"))
    out = tmp_path / "out"
    arguments = ("--game", "paint", "--format", "free-for-all", "--option", "turns=5")
    assert cw("run", file, "--out", out, *arguments).exit_code == 0
    client = championship_app(out).test_client()
    page = client.get("/championship/")
    assert "Paint · free for all · 3 teams · 3 matches" in page.text
    replays = set(re.findall(r'href="(/replays/[^"]+)"', page.text)) - {"/replays/"}
    assert len(replays) == 3
    for address in replays:
        assert "viewer/main.js" in client.get(address).text
        with client.get(f"{address}/document") as document:
            assert document.status_code == 200


def test_the_replays_beside_the_page_are_listed_and_watched(out: Path) -> None:
    client = championship_app(out).test_client()
    page = client.get("/replays/").text
    assert "round-robin_round-1" in page
    own = set(re.findall(r'(?:src|href)="(/[^"#]+)"', page))
    assert {"/championship/", "/replays/"} < own
    for address in own:
        with client.get(address, follow_redirects=True) as answer:
            assert answer.status_code == 200, address


@pytest.mark.parametrize("part", [".", "report", "games"])
def test_a_site_whose_replays_are_of_a_championship_shows_it(out: Path, part: str) -> None:
    client = create_app(SiteSettings(replays=out / part)).test_client()
    assert "is the champion" in client.get("/championship/").text
    replays = client.get("/replays/").text
    assert '<a href="/championship/"' in replays
    assert "round-robin_round-1" in replays
    assert "are no replays" not in replays


@pytest.mark.parametrize("setting", ["save", "uploads"])
def test_nothing_is_put_among_the_replays_of_a_championship(out: Path, setting: str) -> None:
    with pytest.raises(UsageError, match="contains a championship: save replays in another folder"):
        create_app(SiteSettings(replays=out, save=setting == "save", uploads=setting == "uploads"))


def test_a_site_of_other_replays_has_no_championship(tmp_path: Path) -> None:
    client = create_app(SiteSettings(replays=tmp_path)).test_client()
    assert client.get("/championship/").status_code == 404
    assert "Championship" not in client.get("/replays/").text


def test_a_page_that_polls_is_told_only_what_is_new(out: Path) -> None:
    client = championship_app(out).test_client()
    tag = re.findall(r"data-tag=\"&#34;(\w+)&#34;\"", client.get("/championship/").text)[0]

    def status_for(tag: str) -> int:
        return client.get("/championship/stand", headers={"If-None-Match": f'"{tag}"'}).status_code

    assert status_for(tag) == 304
    assert status_for("other") == 200
    with alone(out):
        assert status_for(tag) == 200
    assert status_for(tag) == 304
    with (out / "results.jsonl").open("ab") as torn:
        torn.write(b"{")
    assert status_for(tag) == 200


def test_a_championship_says_whether_somebody_plays_it(out: Path) -> None:
    (out / "results.jsonl").write_bytes(b"")
    client = championship_app(out).test_client()
    page = client.get("/championship/").text
    assert 'data-phase="stopped"' in page
    assert "0 of 1 matches played" in page
    assert "cw championship resume out" in page
    with alone(out):
        page = client.get("/championship/").text
        assert 'data-phase="running"' in page
        assert "cw championship resume" not in page


def test_a_journal_that_is_broken_is_told_in_a_sentence(out: Path) -> None:
    client = championship_app(out).test_client()
    (out / "results.jsonl").write_text("{}\n")
    page = client.get("/championship/", headers={"Accept": "text/html"})
    assert page.status_code == 400
    assert "results.jsonl line 1" in page.text


def live_match(out: Path, stem: str) -> Path:
    """Tell a match of a championship as one that is being played; its replay is not there yet."""
    replay_file = out / "games" / f"{stem}.json.gz"
    document = replays_document.decode(replay_file.read_bytes())
    replay_file.unlink()
    line = {"after": 0} | {key: document[key] for key in ("turns", "faults", "result")}
    place = live_file(out, stem)
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"{json.dumps(document | {'turns': []})}\n{json.dumps(line)}\n")
    return place


def test_a_match_is_watched_while_it_is_played_and_when_it_is_over(out: Path) -> None:
    [stem] = (path.name.removesuffix(".json.gz") for path in out.glob("games/*.json.gz"))
    whole = (out / "games" / f"{stem}.json.gz").read_bytes()
    place = live_match(out, stem)
    client = championship_app(out).test_client()
    assert (
        f'data-live="/championship/live/{stem}/document"'
        in client.get(f"/championship/live/{stem}").text
    )
    address = f"/championship/live/{stem}/document"
    answer = client.get(address)
    document = answer.get_json()
    turns = len(document["turns"])
    assert turns > 0
    assert document["live"] == {"over": False, "trouble": ""}
    assert "stderr" not in answer.text
    tag = {"If-None-Match": answer.headers["ETag"]}
    unchanged = client.get(f"{address}?after={turns}", headers=tag)
    assert (unchanged.status_code, unchanged.data) == (304, b"")
    assert client.get(f"{address}?after=1").get_json()["turns"] == document["turns"][1:]

    place.unlink()
    assert client.get(address).status_code == 404
    (out / "games" / f"{stem}.json.gz").write_bytes(whole)
    news = client.get(f"{address}?after={turns}", headers=tag).get_json()
    assert (news["turns"], news["live"]["over"]) == ([], True)
    assert client.get(news["replay"]).status_code == 200
    for name in ("absent", "..%2fresults", ".lock"):
        assert client.get(f"/championship/live/{name}/document").status_code == 404


def test_a_match_that_has_not_begun_is_waited_for(out: Path) -> None:
    match = Fixture("round-robin", None, 9, ("random", "greedy"))
    (out / "results.jsonl").write_bytes(b"")
    Progress(running={match: None}).save(out)
    client = championship_app(out).test_client()
    with alone(out):
        page = client.get("/championship/").text
    address = f"/championship/live/{stem_of(match)}"
    assert f'href="{address}"' in page
    answer = client.get(f"{address}/document")
    assert (answer.status_code, answer.get_json()["over"]) == (202, False)
