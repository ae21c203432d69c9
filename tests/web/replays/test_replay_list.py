"""The list of replays: results, pictures, pages, and folders of any size and content."""

from __future__ import annotations

import gzip
import os
import re
import threading
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image

from cw.errors import CapacityError, ProtocolError
from cw.replays import document as replays_document
from cw.web import replay_pictures, replay_store
from cw.web.last_picture import painted
from cw.web.replay_pictures import Thumbnails
from cw.web.replay_store import (
    PAGE,
    ReplayFilter,
    ReplayStore,
    ReplaySummary,
    Unreadable,
    read_summary,
    summary_of,
)
from tests.browser.recorded import recorded
from tests.web.replays.test_replays import client_of, put


def fill(folder: Path, count: int) -> None:
    """Put replays into a folder; the one of the highest number is the latest."""
    data = replays_document.encode(recorded("hexagon"), packed=True)
    for number in range(count):
        file = folder / f"match-{number:03}.json.gz"
        file.write_bytes(data)
        os.utime(file, (number, number))


def wait_for_pictures() -> None:
    """Wait until the ends of large replays are painted."""
    for thread in threading.enumerate():
        if thread.name == "thumbnails":
            thread.join()


def listed(page: str) -> list[str]:
    """Return the names of the replays on a page."""
    return re.findall(r'href="/replays/([^"?]+)"', page)


def summary(**members: Any) -> ReplaySummary:
    return summary_of(replays_document.encode(recorded("paint") | members, packed=False))


class TestCards:
    def test_a_card_says_who_won_by_what_and_when(self, tmp_path: Path) -> None:
        result = {
            "reason": "turns_over",
            "winner": "bot1",
            "scores": {"bot0": 20, "bot1": 35},
        }
        put(tmp_path, "match.json", result={"outcome": result}, date="2026-01-02T03:04:05Z")
        page = client_of(tmp_path).get("/replays/").text
        assert ">bot1 won by score, 35 to 20</a>" in page
        assert "<time>2026-01-02 03:04</time>" in page
        assert ">Paint</span>" in page
        assert "40 turns" in page
        names = re.findall(r'class="name">([^<]+)<', page)
        assert names == ["bot1", "bot0"]
        assert re.findall(r'class="score">([^<]+)<', page) == ["35", "20"]

    def test_many_players_are_counted(self) -> None:
        players = [{"player": seat, "name": f"bot{seat}", "bot": ""} for seat in range(30)]
        outcome = {"reason": "x", "winner": 20, "scores": {"7": 9}}
        entry = summary(players=players, result={"outcome": outcome})
        assert [row.name for row in entry.rows] == ["bot20", "bot7", "bot0", "bot1"]
        assert [row.won for row in entry.rows] == [True, False, False, False]

    def test_hostile_names_are_text(self, tmp_path: Path) -> None:
        name = '"><script>alert(1)</script>'
        players = [{"player": "bot0", "name": name, "bot": ""}]
        put(tmp_path, "match.json", players=players, game="<i>", date="<b>" * 100)
        page = client_of(tmp_path).get("/replays/").text
        assert "<script>alert" not in page
        assert "<i>" not in page
        assert "&lt;script&gt;" in page


class TestPages:
    def test_the_latest_come_first_and_the_rest_follow(self, tmp_path: Path) -> None:
        fill(tmp_path, 2 * PAGE + 1)
        client = client_of(tmp_path)
        pages = [client.get(f"/replays/?page={number}").text for number in (1, 2, 3)]
        names = [name for page in pages for name in listed(page)]
        assert names == [f"match-{number:03}" for number in range(2 * PAGE, -1, -1)]
        assert ">← Newer<" not in pages[0]
        assert 'href="/replays/?page=3" rel="next"' in pages[1]
        assert 'href="/replays/" rel="prev"' in pages[1]
        assert ">Older →<" not in pages[2]

    @pytest.mark.parametrize("number", ["99", "0", "-1", "x", "9" * 50, "1.5", ""])
    def test_a_page_that_is_not_there_is_another_one(self, tmp_path: Path, number: str) -> None:
        fill(tmp_path, PAGE + 1)
        page = client_of(tmp_path).get(f"/replays/?page={number}")
        assert page.status_code == 200
        assert listed(page.text)

    def test_pages_keep_the_filter(self, tmp_path: Path) -> None:
        fill(tmp_path, PAGE + 1)
        put(tmp_path, "paint.json")
        client = client_of(tmp_path)
        while "still being read" in (page := client.get("/replays/?game=hexagon&player=bot").text):
            pass
        assert "/replays/?game=hexagon&amp;player=bot&amp;page=2" in page
        assert "paint" not in listed(page)
        assert f"{PAGE + 1} of {PAGE + 2} files" in page

    def test_what_fits_no_filter_is_said(self, tmp_path: Path) -> None:
        fill(tmp_path, 1)
        assert "No replays match." in client_of(tmp_path).get("/replays/?player=zoe").text


class TestManyFiles:
    def test_only_the_files_of_a_page_are_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(tmp_path, 2 * PAGE)
        read: list[Path] = []

        def noted(path: Path) -> ReplaySummary | Unreadable:
            read.append(path)
            return read_summary(path)

        monkeypatch.setattr(replay_store, "read_summary", noted)
        store = ReplayStore(tmp_path, patience=60)
        for _ in range(3):
            store.page(1, ReplayFilter())
        assert len(read) == PAGE
        store.page(1, ReplayFilter(game="hexagon"))
        assert len(read) == len(set(read)) == 2 * PAGE

    def test_a_filter_shows_what_has_been_read_and_says_what_has_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(tmp_path, 3)
        go_on = threading.Event()

        def slow(path: Path) -> ReplaySummary | Unreadable:
            if path.name.startswith("match-001"):
                go_on.wait()
            return read_summary(path)

        monkeypatch.setattr(replay_store, "read_summary", slow)
        store = ReplayStore(tmp_path, patience=0.05)
        wanted = ReplayFilter(game="hexagon")
        page = store.page(1, wanted)
        while not page.matching:
            page = store.page(1, wanted)
        assert (page.matching, page.unread) == (1, 2)
        go_on.set()
        while page.unread:
            page = store.page(1, wanted)
        assert page.matching == 3

    def test_files_that_are_gone_are_forgotten(self, tmp_path: Path) -> None:
        fill(tmp_path, 5 * PAGE)
        store = ReplayStore(tmp_path)
        while store.page(1, ReplayFilter(game="hexagon")).unread:
            pass
        for file in tmp_path.iterdir():
            file.unlink()
        fill(tmp_path, 1)
        assert store.page(1, ReplayFilter()).total == 1
        assert len(store._known) <= 1

    def test_neighbours_are_replays(self, tmp_path: Path) -> None:
        fill(tmp_path, 4)
        (tmp_path / "match-001.json.gz").write_bytes(b"")
        os.utime(tmp_path / "match-001.json.gz", (1, 1))
        store = ReplayStore(tmp_path)
        assert store.neighbours("match-002") == ("match-003", "match-000")
        assert store.neighbours("absent") == (None, None)

    def test_of_two_of_one_name_the_plain_one_is_shown(self, tmp_path: Path) -> None:
        put(tmp_path, "match.json")
        put(tmp_path, "match.json.gz", game="hexagon")
        store = ReplayStore(tmp_path)
        [file] = store.files()
        assert file.path.name == "match.json"
        entry = store.find("match")
        assert entry is not None
        assert entry.path == file.path


class TestHostileFiles:
    @pytest.mark.parametrize(
        ("members", "reason"),
        [
            ({"players": []}, "must have 1 to 1000 players, not 0"),
            ({"players": [{"player": 1}]}, "missing required field `name`"),
            ({"turns": [7]}, "Expected `object`, got `int`"),
            ({"result": []}, "Expected `object`, got `array`"),
            ({"version": 2}, "it is replay version 2, expected 1"),
        ],
    )
    def test_the_reason_is_said(self, members: dict[str, Any], reason: str) -> None:
        text = replays_document.encode(recorded("paint") | {"turns": []}, packed=False)
        document = replays_document.parse(text) | members
        with pytest.raises(ProtocolError, match=re.escape(reason)):
            summary_of(msgspec.json.encode(document))

    def test_what_unpacks_to_too_much_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(replay_store, "LARGEST_LISTED", 1000)
        with pytest.raises(ProtocolError, match="larger than 1000 bytes"):
            summary_of(gzip.compress(b" " * 1001))

    def test_too_many_values_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(replay_store, "MOST_OBJECTS", 10)
        with pytest.raises(ProtocolError, match="more than 10 objects"):
            summary()

    def test_large_members_are_refused(self) -> None:
        with pytest.raises(ProtocolError, match="one of its members has more than"):
            summary(result={"outcome": "x" * replay_store.LARGEST_MEMBER})


class TestFiles:
    def test_hidden_files_are_not_listed(self, tmp_path: Path) -> None:
        put(tmp_path, "match.json").rename(tmp_path / ".match.json")
        assert ReplayStore(tmp_path).files() == []

    def test_links_and_large_files_are_listed_and_not_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = put(tmp_path, "match.json")
        (tmp_path / "link.json").symlink_to(file)
        monkeypatch.setattr(replay_store, "LARGEST_FILE", file.stat().st_size)
        store = ReplayStore(tmp_path)
        problems = {stored.name: stored.problem for stored in store.files()}
        assert problems == {"match": "", "link": "it is a link"}
        assert store.find("match")
        assert store.find("link") is None
        monkeypatch.setattr(replay_store, "LARGEST_FILE", file.stat().st_size - 1)
        assert store.find("match") is None

    def test_a_name_may_have_150_letters(self, tmp_path: Path) -> None:
        longest = "m" * 150
        put(tmp_path, f"{longest}.json")
        put(tmp_path, f"{longest}m.json")
        problems = {stored.name: stored.problem for stored in ReplayStore(tmp_path).files()}
        rule = "its name may have up to 150 letters, digits and . _ - only"
        assert problems == {longest: "", f"{longest}m.json": rule}


class TestPictures:
    @pytest.mark.parametrize("dark", ["", "?dark=1"])
    def test_a_picture_shows_the_board(self, tmp_path: Path, dark: str) -> None:
        put(tmp_path, "match.json.gz")
        client = client_of(tmp_path)
        answer = client.get(f"/replays/match/picture.png{dark}")
        assert answer.mimetype == "image/png"
        image = Image.open(BytesIO(answer.data))
        assert max(image.size) <= 450
        assert image.getpixel((0, 0)) == ((18, 27, 23) if dark else (255, 255, 255))
        tag = {"If-None-Match": answer.headers["ETag"]}
        again = client.get(f"/replays/match/picture.png{dark}", headers=tag)
        assert (again.status_code, again.data) == (304, b"")

    @pytest.mark.parametrize("dark", ["", pytest.param("?dark=1", marks=pytest.mark.thorough)])
    def test_of_a_large_replay_the_end_is_shown_when_it_is_painted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dark: str
    ) -> None:
        document = replays_document.decode(put(tmp_path, "match.json.gz").read_bytes())
        at_the_end = painted(document, dark != "")
        at_the_start = painted(document | {"turns": [], "result": {}}, dark != "")
        monkeypatch.setattr(replay_pictures, "LARGEST_PLAYED", 1000)
        client = client_of(tmp_path)
        before = client.get(f"/replays/match/picture.png{dark}")
        assert before.data == at_the_start != at_the_end
        wait_for_pictures()
        tag = {"If-None-Match": before.headers["ETag"]}
        after = client.get(f"/replays/match/picture.png{dark}", headers=tag)
        assert (after.status_code, after.data) == (200, at_the_end)
        tag = {"If-None-Match": after.headers["ETag"]}
        assert client.get(f"/replays/match/picture.png{dark}", headers=tag).status_code == 304

    def test_a_large_replay_whose_end_cannot_be_drawn_keeps_its_start(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(tmp_path, "match.json", turns=[{"frame": "nonsense", "actions": {}}] * 50)
        monkeypatch.setattr(replay_pictures, "LARGEST_PLAYED", 1000)
        pictures, [file] = Thumbnails(), ReplayStore(tmp_path).files()
        start = pictures.find(file, dark=False)
        assert not start.lasting
        wait_for_pictures()
        assert pictures.find(file, dark=False) == (start.data, True)

    def test_what_cannot_be_drawn_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
        put(tmp_path, "unknown.json", game="chess")
        client = client_of(tmp_path)
        assert client.get("/replays/broken/picture.png").status_code == 400
        assert client.get("/replays/unknown/picture.png").status_code == 400
        assert client.get("/replays/absent/picture.png").status_code == 404

    def test_pictures_are_painted_once_and_one_at_a_time(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(tmp_path, 3)
        painted: list[int] = []
        monkeypatch.setattr(replay_pictures, "CAPACITY", 2)

        def noted(document: replays_document.Document, _dark: bool) -> bytes:
            painted.append(len(document["turns"]))
            return b"png"

        monkeypatch.setattr(replay_pictures, "painted", noted)
        pictures = Thumbnails(patience=0.0)
        first, second, third = ReplayStore(tmp_path).files()
        for file in (first, first, second, first, third, first, second):
            pictures.find(file, dark=False)
        assert len(painted) == 4
        with pictures._painting, pytest.raises(CapacityError, match="drawing other pictures"):
            pictures.find(first, dark=False)
