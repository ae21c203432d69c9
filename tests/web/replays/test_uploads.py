"""Replays that viewers leave: only where they may, only what is one, and never more than fits."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import requests
from flask.testing import FlaskClient

from cw.cli import main
from cw.errors import CapacityError, UsageError
from cw.replays import document
from cw.server.settings import LARGEST_REQUEST
from cw.web import create_app, replay_routes, replay_store
from cw.web.replay_routes import Uploads
from cw.web.replay_store import ReplayFolder
from cw.web.settings import LARGEST_UPLOAD, SiteSettings
from tests.browser.recorded import MATCHES, recorded
from tests.fixtures import Serve

NAME = re.compile(r"[a-z-]+-\d{4}-\d\d-\d\d-[0-9a-f]{16}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "replays"
    place.mkdir()
    return place


@pytest.fixture
def taking(folder: Path) -> FlaskClient:
    return create_app(SiteSettings(timeout=3, replays=folder, uploads=True)).test_client()


def file_of(game: str = "hexagon", /, *, packed: bool = True, **members: Any) -> bytes:
    return document.encode(recorded(game) | members, packed=packed)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "plain"])
@pytest.mark.parametrize("game", MATCHES)
def test_a_replay_is_kept_and_shown(
    taking: FlaskClient, folder: Path, game: str, packed: bool
) -> None:
    answer = taking.post("/replays/", data=file_of(game, packed=packed))
    assert answer.status_code == 201
    payload = answer.get_json()
    assert NAME.fullmatch(payload["name"])
    assert payload["name"].startswith(f"{game}-{recorded(game)['date'][:10]}-")
    assert payload["is_new"] is True
    assert payload["address"] == answer.headers["Location"] == f"/replays/{payload['name']}"
    assert names(folder) == [f"{payload['name']}.json.gz"]
    content = (folder / f"{payload['name']}.json.gz").read_bytes()
    assert document.decode(content) == document.decode(file_of(game))
    assert payload["name"] in taking.get("/replays/").text
    assert taking.get(payload["address"]).status_code == 200


def test_the_same_replay_is_kept_once(taking: FlaskClient, folder: Path) -> None:
    first = taking.post("/replays/", data=file_of()).get_json()
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    again = taking.post("/replays/", data=file_of(packed=False))
    assert again.status_code == 200
    assert again.get_json() == first | {"is_new": False}
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before


def test_another_replay_has_another_name(taking: FlaskClient, folder: Path) -> None:
    taking.post("/replays/", data=file_of())
    players = [{"player": 1, "name": "other", "bot": "x"}, *recorded("hexagon")["players"][1:]]
    taking.post("/replays/", data=file_of(players=players))
    assert len(names(folder)) == 2


@pytest.mark.parametrize("name", ["../../evil.json", "C:\\con", "x" * 5000, "", "a\x00b", "<b>"])
def test_a_form_brings_a_file_whose_name_is_nothing_to_us(
    taking: FlaskClient, folder: Path, name: str
) -> None:
    form = {"any": (io.BytesIO(file_of()), name or "unnamed")}
    answer = taking.post("/replays/", data=form, content_type="multipart/form-data")
    assert answer.status_code == 201
    (content,) = names(folder)
    assert NAME.fullmatch(content.removesuffix(".json.gz"))
    assert names(folder.parent) == ["replays"]


def test_a_form_without_a_file_is_no_replay(taking: FlaskClient, folder: Path) -> None:
    answer = taking.post("/replays/", data={"a": "b"}, content_type="multipart/form-data")
    assert answer.status_code == 400
    assert (
        taking.post("/replays/", data=b"--x", content_type="multipart/form-data").status_code == 400
    )
    assert names(folder) == []


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def with_options(value: bytes) -> bytes:
    """Return a replay whose options hold a value that JSON can say."""
    return file_of(packed=False, options={"x": "HERE"}).replace(b'"HERE"', value)


NO_REPLAYS: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "not JSON": lambda: b"hello",
    "a list": lambda: b"[]",
    "an empty object": lambda: b"{}",
    "half of one": lambda: file_of(packed=False)[:-200],
    "half of a packed one": lambda: file_of()[:-200],
    "deep": lambda: nested(100_000),
    "deep within": lambda: with_options(nested(5000)),
    "deep within, almost readable": lambda: with_options(nested(950)),
    "a changed action": lambda: file_of(turns=recorded("hexagon")["turns"][:-1]),
    "a number without an end": lambda: with_options(b"1" * 100_000),
    "a surrogate": lambda: with_options(b'"\\ud800"'),
    "no number": lambda: with_options(b"NaN"),
    "another version": lambda: file_of(version=2),
    "an unknown game": lambda: file_of(game="chess"),
    "a game that is a path": lambda: file_of(game="../../hexagon"),
    "no date": lambda: file_of(date="today"),
    "a date that is a path": lambda: file_of(date="../../../etc"),
    "players that are numbers": lambda: file_of(players=[1, 2]),
    "a hash that is none": lambda: file_of(hash=""),
}


@pytest.mark.parametrize("kind", NO_REPLAYS)
def test_what_is_no_replay_is_refused_with_a_sentence(
    taking: FlaskClient, folder: Path, kind: str
) -> None:
    answer = taking.post("/replays/", data=NO_REPLAYS[kind]())
    assert answer.status_code == 400
    assert len(answer.get_json()["error"]) < 1000
    assert names(folder) == []


def test_a_bomb_is_not_unpacked(taking: FlaskClient, folder: Path) -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(b" " * 2**20) for _ in range(200)) + packer.flush()
    assert len(bomb) < LARGEST_UPLOAD
    answer = taking.post("/replays/", data=bomb)
    assert answer.status_code == 400
    assert "larger than" in answer.get_json()["error"]
    assert names(folder) == []


def test_a_packed_file_is_unpacked_once(taking: FlaskClient, folder: Path) -> None:
    assert taking.post("/replays/", data=gzip.compress(file_of())).status_code == 400
    assert names(folder) == []


def test_few_bytes_with_many_values_are_not_read(
    taking: FlaskClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = with_options(b"[" + b"[],".join([b""] * replay_routes.MOST_PARTS) + b"0]")
    monkeypatch.delattr(replay_routes, "parsed")
    answer = taking.post("/replays/", data=gzip.compress(many))
    assert answer.status_code == 400
    assert "too many values" in answer.get_json()["error"]
    assert names(folder) == []


@pytest.mark.parametrize("form", [True, False], ids=["form", "body"])
def test_the_largest_file_is_taken_and_no_larger_one(
    serve: Serve, folder: Path, form: bool
) -> None:
    base = serve(create_app(SiteSettings(replays=folder, uploads=True)))

    def leave(data: bytes) -> requests.Response:
        if form:
            return requests.post(f"{base}/replays/", files={"file": data}, timeout=60)
        return requests.post(f"{base}/replays/", data=data, timeout=60)

    plain = file_of(packed=False)
    largest = plain + b" " * (LARGEST_UPLOAD - len(plain))
    refused = leave(largest + b" ")
    assert refused.status_code == 413
    assert str(LARGEST_UPLOAD) in refused.json()["error"]
    assert names(folder) == []
    assert leave(largest).status_code == 201


@pytest.mark.parametrize("place", ["folder", None])
def test_where_it_is_not_allowed_it_is_refused(folder: Path, place: str | None) -> None:
    client = create_app(SiteSettings(replays=folder if place else None)).test_client()
    answer = client.post("/replays/", data=file_of())
    assert answer.status_code == 403
    assert "--uploads" in answer.get_json()["error"]
    assert names(folder) == []
    assert "Keep it on this server" not in client.get("/replays/").text


def test_uploads_need_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_bytes(file_of())
    for place in (None, file, tmp_path / "gone"):
        with pytest.raises(UsageError, match="need a folder"):
            create_app(SiteSettings(replays=place, uploads=True))


def test_the_command_says_that_uploads_need_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--uploads", "--port", "0"])
    assert ended.value.code
    assert "need a folder" in capsys.readouterr().err


FOREIGN = [
    {"Origin": "https://example.org"},
    {"Origin": "null"},
    {"Origin": "http://localhost:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Host": "example.org"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=lambda headers: "-".join(headers.values()))
def test_pages_of_other_sites_can_leave_nothing(
    taking: FlaskClient, folder: Path, headers: dict[str, str]
) -> None:
    answer = taking.post("/replays/", data=file_of(), headers=headers)
    assert answer.status_code == 403
    assert names(folder) == []


def test_our_own_page_can(taking: FlaskClient) -> None:
    headers = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert taking.post("/replays/", data=file_of(), headers=headers).status_code == 201
    preflight = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    answer = taking.options("/replays/", headers=preflight)
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_a_full_folder_takes_nothing_more(
    taking: FlaskClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "notes.txt").write_text("x")
    monkeypatch.setattr(replay_store, "MOST_FILES", 2)
    assert taking.post("/replays/", data=file_of("hexagon")).status_code == 201
    answer = taking.post("/replays/", data=file_of("paint"))
    assert answer.status_code == 503
    assert "full" in answer.get_json()["error"]
    assert taking.post("/replays/", data=file_of("hexagon")).status_code == 200
    assert len(names(folder)) == 2


def test_the_bytes_of_the_folder_are_counted(
    taking: FlaskClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "large.json").write_bytes(b" " * 1000)
    monkeypatch.setattr(replay_store, "MOST_BYTES", 1000 + len(file_of()) - 1)
    assert taking.post("/replays/", data=file_of()).status_code == 503
    monkeypatch.setattr(replay_store, "MOST_BYTES", 1000 + len(file_of()))
    assert taking.post("/replays/", data=file_of()).status_code == 201


def test_a_folder_that_is_gone_is_said(taking: FlaskClient, folder: Path) -> None:
    folder.rmdir()
    answer = taking.post("/replays/", data=file_of())
    assert answer.status_code == 500
    assert "cannot write" in answer.get_json()["error"]


def test_what_fails_half_way_leaves_nothing(
    taking: FlaskClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    answer = taking.post("/replays/", data=file_of())
    assert answer.status_code == 500
    assert "No space left" in answer.get_json()["error"]
    assert names(folder) == []
    monkeypatch.undo()
    assert taking.post("/replays/", data=file_of()).status_code == 201


@pytest.mark.thorough
def test_many_at_once_leave_whole_files(serve: Serve, folder: Path) -> None:
    base = serve(create_app(SiteSettings(replays=folder, uploads=True)))
    files = [file_of(game) for game in MATCHES] * 4
    start = Barrier(len(files))

    def leave(data: bytes) -> int:
        start.wait()
        while True:
            answer = requests.post(f"{base}/replays/", data=data, timeout=60)
            assert requests.get(f"{base}/replays/", timeout=60).status_code == 200
            if answer.status_code != 503:
                return answer.status_code
            assert "try again" in answer.json()["error"]

    with ThreadPoolExecutor(len(files)) as threads:
        codes = sorted(threads.map(leave, files))
    assert codes == [200] * (len(files) - len(MATCHES)) + [201] * len(MATCHES)
    assert len(names(folder)) == len(MATCHES)
    for file in folder.iterdir():
        document.decode(file.read_bytes())


def test_one_is_taken_in_at_a_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taking_in = Uploads(ReplayFolder(folder))

    def check(data: bytes) -> document.Document:
        with pytest.raises(CapacityError, match="try again"):
            taking_in.save(data)
        return recorded("hexagon")

    monkeypatch.setattr(replay_routes, "checked", check)
    assert taking_in.save(b"").is_new
    assert not taking_in.save(b"").is_new


@pytest.mark.parametrize("uploads", [True, False])
def test_every_other_route_reads_little(serve: Serve, folder: Path, uploads: bool) -> None:
    base = serve(create_app(SiteSettings(replays=folder, uploads=uploads)))

    def is_refused(path: str, data: Any) -> bool:
        try:
            return requests.post(base + path, data=data, timeout=60).status_code == 413
        except requests.ConnectionError:
            # The server has hung up before everything was sent.
            return True

    for size in (LARGEST_REQUEST + 1, 1_000_000):
        for path in ("/status", "/", "/games/", "/replays/x", "/nowhere"):
            assert is_refused(path, b"x" * size), path
            assert is_refused(path, iter([b"x" * size])), path
    assert (
        requests.post(f"{base}/status", data=b"x" * LARGEST_REQUEST, timeout=60).status_code == 405
    )


def test_a_served_replay_can_be_left_in_every_way(serve: Serve, folder: Path) -> None:
    base = serve(create_app(SiteSettings(replays=folder, uploads=True)))
    data = gzip.compress(file_of(packed=False) + b" " * 1_000_000)
    for answer in (
        requests.post(f"{base}/replays/", data=data, timeout=60),
        requests.post(f"{base}/replays/", data=iter([data[:100], data[100:]]), timeout=60),
        requests.post(f"{base}/replays/", files={"file": data}, timeout=60),
    ):
        assert answer.status_code in (200, 201)
        assert requests.get(base + answer.json()["address"], timeout=60).status_code == 200
    assert len(names(folder)) == 1
