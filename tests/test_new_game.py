"""`cw new-game`: a package that is complete, on pages too, and holds what every game is held to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from cw.cli import main
from cw.games.registry import installed_games, load_game
from cw.new_game import NewGame, rendered
from cw.replays.document import frame_of
from cw.suite import CHECKS, subject
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.documented import place

KINDS = {
    "made-plain": NewGame("made-plain"),
    "made-rich": NewGame("made-rich", 2, 4, simultaneous=True, hidden=True),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for game in KINDS.values():
        place(folder, dict(rendered(game)))
    for drawn in ("picture", "terminal"):
        game = NewGame(f"made-{drawn}")
        left_out = "viewer.js" if drawn == "picture" else "viewer.js|picture.py"
        files = {n: t for n, t in rendered(game) if not re.search(left_out, n)}
        place(folder, files)
    return folder


@pytest.fixture(autouse=True)
def with_new_games(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(site)


@pytest.fixture
def client() -> Iterator[FlaskClient]:
    app = create_app(SiteSettings())
    yield app.test_client()
    app.extensions["matches"].close()


def cw(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("game", KINDS)
@pytest.mark.parametrize("check", CHECKS)
def test_a_new_game_keeps_to_what_every_game_does(game: str, check: str) -> None:
    CHECKS[check](subject(game, size=5))


def test_the_command_writes_what_can_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "pip install -e ." in cw("new-game", "tron-x", "--simultaneous", "--players", "2-4")
    assert "tron_x:ENTRY" in (tmp_path / "tron-x" / "pyproject.toml").read_text("utf-8")
    for arguments in (("tron-x",), ("json",), ("hexagon",), ("../x",), ("y", "--players", "5")):
        assert cw("new-game", *arguments, code=2)
    assert "ok      samples" in cw("test-game", "made-plain", "--check", "samples")


def test_a_new_bot_is_written_for_a_new_game(tmp_path: Path) -> None:
    for language in ("python", "javascript"):
        assert "is made" in cw("new-bot", "made-plain", language, str(tmp_path / language))
    assert (tmp_path / "python" / "arena.py").is_file()


def test_its_pages_show_all_that_it_brings(client: FlaskClient) -> None:
    page = client.get("/games/").text
    assert page.index("Made Plain") > page.index("Paint")
    assert "From the package made-plain 0.1" in page
    card = client.get("/games/made-plain/card")
    assert card.mimetype == "image/svg+xml"
    with client.get("/games/made-plain/viewer/viewer.js") as module:
        assert module.mimetype == "text/javascript"
        assert "script-src 'self'" in module.headers["Content-Security-Policy"]
    assert "collect coins" in client.get("/games/made-plain/rules").text


@pytest.mark.parametrize(
    "path",
    ["../rules.py", "%2e%2e/rules.py", "..%2frules.py", "/etc/passwd", "x.js", "a%00.js", ""],
)
def test_nothing_else_of_a_package_is_served(client: FlaskClient, path: str) -> None:
    assert client.get(f"/games/made-plain/viewer/{path}").status_code in (400, 404)


def frames(client: FlaskClient, name: str, **changed: object) -> tuple[int, str]:
    game = load_game(name)
    frame = frame_of(game, game.rules.new(2, 1))
    body = {
        "players": [{"player": 0, "name": "a"}, {"player": 1, "name": "b"}],
        "first": 0,
        "skip": 0,
        "frames": [frame],
        "actions": [{}],
    }
    answer = client.post(f"/games/{name}/frames", data=json.dumps({**body, **changed}))
    return answer.status_code, answer.text


def test_frames_are_drawn_where_there_is_no_viewer(client: FlaskClient) -> None:
    assert {game.name for game in installed_games()} >= {"made-picture", "made-terminal"}
    code, text = frames(client, "made-picture")
    assert code == 200
    assert json.loads(text)["drawn"][0].startswith("<svg")
    code, text = frames(client, "made-terminal")
    assert json.loads(text)["drawn"][0].startswith("A ")


@pytest.mark.parametrize(
    "changed",
    [{"frames": []}, {"frames": [{}]}, {"first": 10**9}, {"actions": []}, {"skip": 3}, {"x": 1}],
)
def test_frames_that_cannot_be_drawn_are_refused(
    client: FlaskClient, changed: dict[str, object]
) -> None:
    for name in ("made-picture", "made-terminal"):
        assert frames(client, name, **changed)[0] == 400
