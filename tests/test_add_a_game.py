"""The games of docs/add-a-game.md, played from that page alone: by commands and on pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner
from flask.testing import FlaskClient

from cw.cli import main
from cw.web import create_app
from cw.web.settings import SiteSettings
from tests.documented import installed, programs
from tests.interpreter import PYTHON
from tests.ports import free_port

PATIENCE = 120.0
"""Seconds that are enough on the slowest machine."""

SLOW = ("--option", "timeout=60")
"""A time limit that no machine exceeds."""

CLASS = """
class Bot:
    def act(self, view):
        heaps = view["heaps"]
        return {"heap": heaps.index(max(heaps)), "objects": 1}
"""

RIDER = """
import json
import sys

for line in sys.stdin:
    question = json.loads(line)
    if "turn" in question and "view" in question:
        way = ("up", "right", "down", "left")[question["turn"] % 4]
        answer = {"turn": question["turn"], "action": {"way": way}}
        print(json.dumps(answer), flush=True)
"""

RIDER_CLASS = """
class Rider:
    def act(self, view):
        return {"way": "right"}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where replays may be written, and where the bots of the page are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(installed()))
    monkeypatch.syspath_prepend(installed())
    for name, text in {**programs(), "player.py": CLASS}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def cw(*arguments: str, stdin: str = "", code: int = 0) -> str:
    """Run a command; return what it prints."""
    done = CliRunner().invoke(main, arguments, input=stdin)
    assert done.exit_code == code, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def wait(look: Callable[[], Any]) -> Any:
    """Look again and again until there is something."""
    until = time.monotonic() + PATIENCE
    while not (value := look()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return value


@contextmanager
def running(*command: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program while the block runs."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables}
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


@contextmanager
def service() -> Iterator[str]:
    """Run the web service of the page; yield its address once it answers."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with running(sys.executable, "service.py", PORT=str(port)):
        wait(lambda: listens(address))
        yield address


def listens(address: str) -> bool:
    try:
        requests.get(address, timeout=PATIENCE)
    except requests.ConnectionError:
        return False
    return True


def play(*bots: str) -> dict[str, Any]:
    """Play a match of three heaps; return its report."""
    report: dict[str, Any] = json.loads(
        cw("play", "nim", *bots, *SLOW, "--seed", "1", "--out", "match.json", "--json")
    )
    return report


def test_strategies_play_by_themselves() -> None:
    payload = json.loads(cw("simulate", "nim", "random", "balanced", "--games", "20", "--json"))
    assert payload["games"] == 20
    assert "Leaves heaps" in cw("bots", "nim")


@pytest.mark.parametrize(
    "bot",
    [
        ("builtin:balanced",),
        ("python:player.py",),
        ("bot.py",),
        (f"exec:{PYTHON} bot.py",),
        ("mine=service.py", "--set", "mine.form=http"),
    ],
    ids=lambda bot: bot[0],
)
def test_bots_of_every_kind_play_a_match_to_its_end(bot: tuple[str, ...]) -> None:
    report = play("builtin:random", *bot)
    assert report["reason"] == "last_object"
    assert [player["faults"] for player in report["players"]] == [[], []]
    assert cw("replay", "verify", "match.json") == "match.json: ok\n"
    assert '"heaps": [' in cw("replay", "show", "match.json", "--turn", "0")


def test_a_web_service_plays_at_its_address() -> None:
    with service() as address:
        assert play("builtin:random", address)["reason"] == "last_object"


def test_a_recorded_turn_is_tried_again() -> None:
    play("builtin:random", "builtin:balanced")
    line = cw("replay", "line", "match.json", "--turn", "1")
    stepped = json.loads(cw("step", "nim", stdin=line))
    assert stepped["state"]["player"] == 1
    assert stepped["outcome"] is None
    view = cw("replay", "line", "match.json", "--turn", "2", "--player", "1")
    assert json.loads(cw("observe", "nim", stdin=view))["view"] == stepped["state"]


def test_states_are_drawn_as_text() -> None:
    play("builtin:random", "builtin:balanced")
    cw("replay", "export", "match.json", "--svg", "--turn", "0")
    assert "heaps" in Path("match.svg").read_text(encoding="utf-8")


def checked(*bot: str, code: int = 0) -> list[dict[str, Any]]:
    """Check a bot; return the steps."""
    output = cw("check", "nim", *bot, "--json", code=code)
    return [json.loads(line) for line in output.splitlines()]


def test_good_bots_pass_the_check() -> None:
    steps = [step["step"] for step in checked("bot.py")]
    assert steps == [
        "answers its first turn",
        "answers its second turn",
        "answers its third turn",
        "plays a whole match against random",
        "plays a whole match against balanced",
    ]
    with service() as address:
        assert [step["step"] for step in checked(address)] == steps


BAD = [
    ("import json\n", "import numbskull\n", "numbskull", "correct the line"),
    ('"objects": 1', '"objects": 100', "illegal: heap", "cw step"),
    ('"objects": 1', '"object": 1', "missing required field `objects`", '"turn": N'),
    ('"heap": heap', '"heap": "big"', "Expected `int`, got `str`", '"turn": N'),
    ('"action": {"heap": heap, "objects": 1}', '"action": {"fault": "timeout"}', "expected an", ""),
    # Another line is waited for to the end of the time.
    pytest.param(
        *("json.dumps(answer)", '"hello"', "expected", '"turn": N'),
        marks=pytest.mark.limits_of_the_rules,
    ),
    pytest.param(
        *('"turn": question["turn"], ', "", "expected", '"turn": N'),
        marks=pytest.mark.limits_of_the_rules,
    ),
]


@pytest.mark.parametrize(("part", "other", "problem", "fix"), BAD)
def test_what_is_wrong_with_a_bot_is_said(part: str, other: str, problem: str, fix: str) -> None:
    text = programs()["bot.py"]
    assert part in text
    Path("bad.py").write_text(text.replace(part, other), encoding="utf-8")
    [step] = checked("bad.py", code=1)
    assert step["step"] == "answers its first turn"
    assert problem in step["problem"]
    assert fix in step["fix"]


def test_a_line_for_another_turn_is_passed_over() -> None:
    late = 'print(json.dumps(answer | {"turn": -1}), flush=True)\n    print(json.dumps(answer)'
    text = programs()["bot.py"].replace("print(json.dumps(answer)", late)
    Path("late.py").write_text(text, encoding="utf-8")
    assert play("builtin:random", "late.py")["reason"] == "last_object"


def test_what_is_wrong_with_a_web_service_is_said() -> None:
    text = programs()["service.py"].replace("send_response(200)", "send_response(500)")
    Path("service.py").write_text(text, encoding="utf-8")
    with service() as address:
        [step] = checked(address, code=1)
    assert "malformed: HTTP status 500, expected 200" in step["problem"]
    assert "the bot's own code failed" in step["fix"]


def test_a_time_limit_that_is_none_is_refused() -> None:
    for limit in ("0", "-1", "soon", "1e999", "true"):
        cw("play", "nim", "bot.py", "bot.py", "--option", f"timeout={limit}", code=2)


@pytest.mark.thorough
def test_strategies_are_served() -> None:
    command = (sys.executable, "-m", "cw", "bots", "serve", "nim", "balanced", "--port", "0")
    with running(*command) as process:
        assert process.stdout is not None
        address = process.stdout.readline().removeprefix("listening on ").strip()
        report = play("builtin:random", f"b={address}")
        assert requests.post(f"{address}/act", data=b"[", timeout=PATIENCE).status_code == 400
    assert report["reason"] == "last_object"
    assert report["players"][1]["rank"] == 1
    # A bot's environment is not ours: it has to be told where the package is.
    served = f"env PYTHONPATH={installed()} {PYTHON} -m cw bots serve nim balanced --lines"
    assert play("builtin:random", f"b=exec:{served}", "--sandbox", "off") == report


@pytest.fixture
def client() -> Iterator[FlaskClient]:
    app = create_app(SiteSettings())
    yield app.test_client()
    app.extensions["matches"].close()


def test_it_has_its_pages_and_is_played_there(client: FlaskClient) -> None:
    assert "Nim" in client.get("/games/").text
    page = client.get("/games/nim/").text
    assert "builtin:balanced" in page
    assert "cw check nim" in page
    form = {"seat-1": "builtin:balanced", "seat-2": "builtin:random", "pace": "all"}
    begun = client.post("/games/nim/matches", data=form)
    assert begun.status_code == 303, begun.text
    address = begun.headers["Location"]
    assert client.get(address).status_code == 200
    document = wait(lambda: ended(client, address))
    assert document["game"] == "nim"
    assert document["result"]["outcome"]["reason"] == "last_object"


def ended(client: FlaskClient, address: str) -> Any:
    answer = client.get(f"{address}/document")
    payload = answer.get_json()
    return payload if answer.status_code == 200 and payload["live"]["over"] else None


def test_many_who_move_at_once_play_a_match_of_tron() -> None:
    bots = ("builtin:roomy", "bot=rider.py", "builtin:random", "python:player.py:Rider")
    Path("rider.py").write_text(RIDER, encoding="utf-8")
    Path("player.py").write_text(RIDER_CLASS, encoding="utf-8")
    output = cw("play", "tron", *bots, *SLOW, "--seed", "3", "--out", "match.json", "--json")
    report = json.loads(output)
    assert report["reason"] in ("others_crashed", "all_crashed")
    assert sorted(player["rank"] for player in report["players"])[0] == 1
    assert [player["faults"] for player in report["players"]] == [[], [], [], []]
    assert cw("replay", "verify", "match.json") == "match.json: ok\n"
    document = json.loads(Path("match.json").read_text(encoding="utf-8"))
    assert sorted(document["turns"][0]["actions"]) == ["0", "1", "2", "3"]
    assert "A" in cw("replay", "show", "match.json", "--turn", "0")


def test_two_who_come_to_a_square_at_once_both_crash() -> None:
    riders = [{"wall": [[2, column]], "rides": True} for column in (1, 3)]
    line = {"state": {"size": 5, "riders": riders}, "actions": {}}
    line["actions"] = {"0": {"way": "right"}, "1": {"way": "left"}}
    stepped = json.loads(cw("step", "tron", stdin=json.dumps(line)))
    assert stepped["outcome"]["reason"] == "all_crashed"
    assert stepped["outcome"]["winner"] is None


def test_pages_show_tron_in_its_own_words(client: FlaskClient) -> None:
    assert "Squares on each side" in client.get("/games/tron/").text
    form = {"bot": "builtin:random", "hand": "1", "size": "9", "seed": "1"}
    begun = client.post("/games/tron/matches", data=form)
    assert begun.status_code == 303, begun.text
    page = client.get(begun.headers["Location"]).text
    assert "/games/tron/frames" in page
    path, _, key = begun.headers["Location"].partition("?")
    document = wait(lambda: may_move(client, f"{path}/document?{key}"))
    assert "Ride up" in json.dumps(document["yours"])


def may_move(client: FlaskClient, address: str) -> Any:
    payload = client.get(address).get_json()
    return payload if payload and payload.get("yours") else None
