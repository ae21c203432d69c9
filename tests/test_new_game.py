"""`cw new-game`: a complete package that has pages and passes what `cw test-game` checks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from cw.assets import asset
from cw.cli import main
from cw.drawing import DrawnPlayer
from cw.games.codec import Game
from cw.games.registry import installed_games, load_game
from cw.new_game import NewGame, rendered
from cw.replays.document import frame_of
from cw.suite import CHECKS, subject
from cw.web import create_app
from cw.web.frames import Window, document_of
from cw.web.settings import SiteSettings
from tests.documented import place
from tests.typed import ROOT

KINDS = {
    "made-plain": NewGame("made-plain"),
    "made-rich": NewGame("made-rich", 2, 4, simultaneous=True, hidden=True),
}

STEP = {
    "state": {
        "size": 3,
        "coins": [[0, 1]],
        "tokens": [[0, 0], [2, 2]],
        "taken": [0, 0],
        "turns_left": 9,
        "player": 0,
    },
    "actions": {"0": {"way": "right"}},
}
BROUGHT = {
    "made_full/kits/python/bot.py": "# The bot of the package.\n",
    "made_full/kits/python/README.md": "# A bot of its own\n",
}
CARD = (asset("static") / "games" / "paint.png").read_bytes()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with new games; a process imports the package of each once."""
    folder = tmp_path_factory.mktemp("site")
    for game in KINDS.values():
        place(folder, dict(rendered(game)))
    for kind in ("picture", "terminal"):
        game = NewGame(f"made-{kind}", hidden=True)
        left_out = "viewer.js" if kind == "picture" else "viewer.js|picture.py"
        files = {n: t for n, t in rendered(game) if not re.search(left_out, n)}
        place(folder, files)
    place(folder, {**dict(rendered(NewGame("made-full"))), **BROUGHT})
    (folder / "made_full" / "card.png").write_bytes(CARD)
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


BY_AUTHORS = {"cw.author", "cw.games.spaces", "cw.suite"}
"""What docs/reference/python.md promises to authors of games."""


def test_games_of_others_import_what_is_promised_alone() -> None:
    files = [*ROOT.glob("sample_game/**/*.jinja"), *ROOT.glob("docs/tron/**/*.py")]
    files.append(ROOT / "docs/add-a-game.md")
    lines = re.compile(r"^(?:from|import) (cw[\w.]*)", re.M)
    assert {name for file in files for name in lines.findall(file.read_text("utf-8"))} == BY_AUTHORS


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
        assert "Created" in cw("new-bot", "made-plain", language, str(tmp_path / language))
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
    [
        {"frames": []},
        {"frames": [{}]},
        {"first": 10**9},
        {"actions": []},
        {"actions": [], "captions": True},
        {"skip": 3},
        {"x": 1},
        {"player": 2},
        {"player": "nobody"},
        {"player": {}},
    ],
)
def test_frames_that_cannot_be_drawn_are_refused(
    client: FlaskClient, changed: dict[str, object]
) -> None:
    for name in ("made-picture", "made-terminal"):
        assert frames(client, name, **changed)[0] == 400


def started(name: str) -> tuple[Game, Any]:
    """Return a game, and the document of a position in which coins have been taken."""
    game = load_game(name)
    frame = frame_of(game, game.rules.new(2, 1))
    assert isinstance(frame, dict)
    return game, frame | {"taken": [3, 1]}


def test_scores_and_moves_are_told_of_what_cannot_be_read(client: FlaskClient) -> None:
    _, frame = started("made-picture")
    odd = {"way": "up", "x": 1}
    actions = [{}, {"0": {"way": "left"}, "1": odd}, {"0": {"fault": "late"}, "1": []}]
    body = {"frames": [frame] * 3, "actions": actions, "captions": True}
    code, text = frames(client, "made-picture", **body)
    assert code == 200
    words = [{}, {"0": "Go left", "1": "Go up"}, {}]
    assert json.loads(text) == {"unit": "coins", "scores": [[3, 1]] * 3, "words": words}
    # Those before what is wanted are not told, however late in the match.
    later = {**body, "first": 50, "skip": 3, "frames": [frame] * 4, "actions": [{}, *actions]}
    assert json.loads(frames(client, "made-picture", **later)[1])["words"] == [{}]
    assert frames(client, "made-picture", frames=[{}], captions=True)[0] == 400
    # A board of text has no scores, but its moves have words.
    without = json.loads(frames(client, "made-terminal", **body)[1])
    assert without == {"unit": "", "scores": [], "words": words}


def test_the_view_of_a_player_is_drawn_without_what_is_hidden(client: FlaskClient) -> None:
    game, frame = started("made-picture")

    def coins(**changed: object) -> int:
        code, text = frames(client, "made-picture", **{"frames": [frame], **changed})
        assert code == 200, text
        return str(json.loads(text)["drawn"][0]).lower().count("#d9a400")

    state = game.codec.state_from_json(frame)
    seen = [len(game.rules.observe(state, player).coins) for player in (0, 1)]
    assert coins() == len(frame["coins"]) > max(seen)
    assert [coins(player=0), coins(player="1")] == seen


def test_the_trails_of_a_view_hide_as_much(client: FlaskClient) -> None:
    _, frame = started("made-picture")
    acted = [{}, {"0": {"way": "right"}, "1": {"way": "left"}}]
    players = [DrawnPlayer(0, "a"), DrawnPlayer(1, "b")]
    document = Window(players, 0, 1, [frame, frame], acted).document()
    assert document_of(document, "1")["turns"] == [{"actions": {"1": {"way": "left"}}}]
    body = {"frames": [frame, frame], "actions": acted, "skip": 1, "player": 1}
    assert frames(client, "made-picture", **body)[0] == 200


def test_a_request_draws_few_frames_and_tells_many(client: FlaskClient) -> None:
    _, frame = started("made-picture")
    many = {"frames": [frame] * 100, "actions": [{}] * 100}
    assert frames(client, "made-picture", **many)[0] == 400
    assert frames(client, "made-picture", captions=True, **many)[0] == 200
    too_many = {"frames": [frame] * 500, "actions": [{}] * 500}
    assert frames(client, "made-picture", captions=True, **too_many)[0] == 400


def test_a_package_may_bring_its_card(client: FlaskClient) -> None:
    with client.get("/games/made-full/card") as card:
        assert (card.mimetype, card.data) == ("image/png", CARD)


def test_a_package_may_bring_kits_in_place_of_the_default_ones(tmp_path: Path) -> None:
    for language, own in (("python", True), ("javascript", False)):
        cw("new-bot", "made-full", language, str(tmp_path / language))
        texts = [file.read_text("utf-8") for file in (tmp_path / language).glob("bot.*")]
        assert ("# The bot of the package.\n" in texts) is own


def test_recorded_steps_of_a_package_are_tried(site: Path) -> None:
    file = site / "made_full" / "vectors.jsonl"
    done = CliRunner().invoke(main, ["step", "made-full"], input=json.dumps(STEP))
    expected = json.loads(done.output)
    assert expected["state"]["taken"] == [1, 0]
    file.write_text(json.dumps({**STEP, "expected": expected}) + "\n", encoding="utf-8")
    assert "ok      vectors" in cw("test-game", "made-full", "--check", "vectors")
    expected["state"]["taken"] = [0, 1]
    file.write_text(json.dumps({**STEP, "expected": expected}) + "\n", encoding="utf-8")
    assert "vectors.jsonl" in cw("test-game", "made-full", "--check", "vectors", code=1)
    file.unlink()


def test_options_of_play_are_offered_and_no_others_taken(client: FlaskClient) -> None:
    assert "Squares on each side" in client.get("/games/made-full/").text
    form = {"seat-1": "builtin:greedy", "seat-2": "builtin:random", "pace": "all"}
    refused = client.post("/games/made-full/matches", data={**form, "size": "6"})
    assert refused.status_code == 400
    assert "size must be one of 7, 5, 9, 11" in refused.text
    assert client.post("/games/made-full/matches", data={**form, "size": "9"}).status_code == 303


OPTIONS = {
    "plain": (),
    "simultaneous": ("--simultaneous",),
    "hidden": ("--hidden",),
    "many": ("--players", "2-4"),
    "all": ("--simultaneous", "--hidden", "--players", "2-4"),
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a virtual environment that has what this one has."""
    folder = tmp_path_factory.mktemp("environment")
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True, timeout=120)
    [packages] = folder.glob("lib/python*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    root = Path(__file__).resolve().parents[1]
    (packages / "here.pth").write_text("\n".join([*here, str(root)]), encoding="utf-8")
    return folder


@pytest.mark.thorough
@pytest.mark.parametrize("kind", OPTIONS)
def test_a_new_game_is_installed_by_an_installer_and_played(
    kind: str, environment: Path, tmp_path: Path
) -> None:
    """Do what the README of a new game says; the package is built with what the tests have."""
    name, python = f"installed-{kind}", str(environment / "bin" / "python")

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, timeout=300, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def arena(*arguments: str) -> str:
        return run(python, "-m", "cw", *arguments)

    arena("new-game", name, *OPTIONS[kind])
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", "--no-build-isolation", "-e", name)
    tried = arena("test-game", name, "--option", "size=5")
    assert tried.count("ok      ") == len(CHECKS)
    arena("play", name, "builtin:random", "builtin:greedy", "--out", "match.json")
    assert arena("replay", "verify", "match.json") == "match.json: ok\n"


@pytest.mark.thorough
def test_the_tests_of_a_new_game_pass(site: Path, tmp_path: Path) -> None:
    game = KINDS["made-rich"]
    [text] = [text for name, text in rendered(game) if name.startswith("tests/")]
    (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    paths = {"PYTHONPATH": os.pathsep.join((str(site), *sys.path))}
    done = subprocess.run(
        command, text=True, capture_output=True, check=False, env={**os.environ, **paths}
    )
    assert done.returncode == 0, done.stdout
