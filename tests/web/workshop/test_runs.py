"""Runs of a bot: what is told of them, whatever the bot does."""

from __future__ import annotations

import gzip
import json
import re
import time

import pytest

from cw.arena.processes import PROC
from cw.games.registry import load_strategies
from tests import patience
from tests.effort import first_is_fast
from tests.web.workshop.conftest import HOST, Json, Make, Workshop

PAINT = """\
import sys, os, time
from paint import Bot, run
class B(Bot):
    def choose(self, state):
{body}
if __name__ == "__main__":
    run(B())
"""
STUBBORN = """\
import signal
signal.signal(15, signal.SIG_IGN)
os.fork()
while True: time.sleep(60)"""
RAISES = """\
if state.turns_left < 98: raise KeyError(3)
print('hm \\x1b[31m <b>', file=sys.stderr)
return ("walk", (0, 1))"""
WALK = '("walk", (0, 1))'


HEXAGON = """\
import os, random
from hexagon import Bot, run
class B(Bot):
    def choose(self, board, color, jumps):
{body}
        return random.choice(board.legal_moves(color))
if __name__ == "__main__":
    run(B())
"""


def indented(body: str) -> str:
    """Return lines as they stand in a method."""
    return "\n".join(f"        {line}" for line in body.splitlines())


def paint(body: str) -> str:
    """Return a bot of Paint that does something when it is asked."""
    return PAINT.replace("{body}", indented(body))


def replay_of(workshop: Workshop, run: Json) -> Json:
    """Return the replay of a run."""
    address = f"http://{HOST}/matches/{run['match']}/document"
    return workshop.client.get(address).get_json()


def processes_with(text: str) -> list[str]:
    """Return the processes whose command line holds a text."""
    processes = []
    for folder in PROC.iterdir():
        if folder.name.isdecimal():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in command:
                processes.append(folder.name)
    return processes


@pytest.fixture
def workshop(make: Make) -> Workshop:
    return make("paint")


@pytest.mark.thorough
@pytest.mark.usefixtures("patient_painters")
@pytest.mark.parametrize(
    "game", ["paint", "circuit-wars", "code-battle", "end-of-codes", "hexagon"]
)
def test_a_kit_plays_at_once(make: Make, game: str) -> None:
    workshop = make(game)
    run = workshop.run(opponent=list(load_strategies(game))[-1])
    assert not run["failed"], run
    assert run["words"]
    assert run["marks"] == []
    assert replay_of(workshop, run)["live"]["over"]
    report = next(
        report
        for turn in range(1, 4)
        if (report := workshop.ask("GET", f"run/turns/{turn}"))["exchanges"]
    )
    assert report["exchanges"][0]["question"]
    assert report["action"] is not None


@pytest.mark.thorough
@pytest.mark.usefixtures("patient_painters")
@pytest.mark.parametrize("language", ["javascript", "php", "ruby", "go", "java", "c", "cpp"])
def test_every_language_is_built_and_runs(make: Make, language: str) -> None:
    workshop = make("paint", language)
    run = workshop.run()
    assert not run["failed"], run
    main = workshop.ask("GET", "files")["files"][0]
    workshop.write(main["name"], main["text"] + "\n@ no language takes this (\n")
    run = workshop.run()
    assert {mark["file"] for mark in run["marks"]} == {main["name"]}, run


@pytest.mark.usefixtures("patient_painters")
def test_the_output_stands_by_turn_and_leads_to_the_line(workshop: Workshop) -> None:
    workshop.write(
        "bot.py",
        paint(RAISES),
    )
    run = workshop.run()
    assert "crashed" in run["words"]
    by_turn = dict(run["output"])
    assert by_turn[1].startswith("hm \\x1b[31m <b>\n")
    [mark] = run["marks"]
    assert (mark["file"], mark["line"], mark["words"]) == ("bot.py", 5, "KeyError: 3")
    assert mark["turn"] in by_turn
    report = workshop.ask("GET", f"run/turns/{mark['turn']}")
    assert "crashed" in report["exchanges"][0]["fault"]


@pytest.mark.usefixtures("patient_painters")
def test_output_is_told_while_the_match_is_played(workshop: Workshop) -> None:
    waits = 'print("here", state.turns_left, file=sys.stderr)\ntime.sleep(0.3)\n'
    workshop.write("bot.py", paint(f"{waits}return {WALK}"))
    workshop.ask("POST", "run", {"opponent": "random"}, 201)
    run = workshop.wait("run", lambda run: len(run["output"]) > 2 or not run["goes_on"])
    workshop.ask("POST", "stop")
    assert run["goes_on"]
    # Later turns may be over by now too.
    assert [turn for turn, _ in run["output"]][:3] == [1, 2, 3]
    assert dict(run["output"])[3].startswith("here 98\n")
    assert workshop.ask("GET", "run")["output"]


def asked_again(workshop: Workshop, turn: int) -> Json:
    """Return what came of asking the bot about a turn again."""
    workshop.ask("POST", "ask", {"turn": turn}, 201)
    return workshop.wait("ask", lambda answer: not answer["goes_on"])


@pytest.mark.usefixtures("patient_painters")
def test_the_bot_is_asked_again_as_it_is_now(workshop: Workshop) -> None:
    workshop.write("bot.py", paint(f"return {WALK}"))
    workshop.run()
    workshop.write("bot.py", paint('print("again", file=sys.stderr)\nreturn ("walk", (0, -1))'))
    answer = asked_again(workshop, 2)["answer"]
    assert answer["before"] == {"type": "walk", "direction": [0, 1]}
    assert answer["after"] == {"type": "walk", "direction": [0, -1]}
    assert answer["changed"]
    assert "again" in answer["stderr"]
    assert "nothing to answer" in asked_again(workshop, 4000)["trouble"]


@pytest.mark.usefixtures("patient_painters")
def test_the_same_seed_and_seat_give_the_same_match(workshop: Workshop) -> None:
    workshop.write("bot.py", paint(f"return {WALK}"))
    first, again = (workshop.run(seed=7, seat=2) for _ in range(2))
    assert first["seed"] == again["seed"] == 7
    assert first["words"] == again["words"]
    names = [player["name"] for player in replay_of(workshop, again)["players"]]
    assert names == ["random", "mine"]


def test_a_run_takes_the_place_of_the_one_before_and_stop_ends_it(workshop: Workshop) -> None:
    workshop.write(
        "bot.py",
        paint(STUBBORN),
    )
    place = str(workshop.place)
    names = []
    for _ in range(2):
        names.append(workshop.ask("POST", "run", {"opponent": "random"}, 201)["match"])
        workshop.wait("run", lambda run: run["ready"])
    matches = workshop.app.extensions["matches"]
    assert "another run" in matches.find(names[0]).trouble
    began = time.monotonic()
    workshop.ask("POST", "stop")
    stopped = time.monotonic() - began
    run = workshop.ask("GET", "run")
    assert not run["goes_on"]
    assert "you have stopped it" in run["words"]
    assert processes_with(place) == []
    assert stopped < 30  # seconds; docs/performance.md has what a quiet machine takes
    workshop.write("bot.py", paint(f"return {WALK}"))
    assert not workshop.run()["failed"]


ATTACKS = {
    "a line of 10 MB": "os.write(2, b'<b>' * 3333333)",
    "loops": "while True: pass",
    "writes a gigabyte": "while True: os.write(2, b'x' * 1000000)",
    "floods its answers": "while True: os.write(1, b'x' * 1000000)",
    "forks": "while True: os.fork()",
    "fills memory": "x = []\nwhile True: x.append(bytearray(10**8))",
}


@pytest.mark.limits_of_the_rules
@pytest.mark.parametrize("attack", first_is_fast(ATTACKS))
def test_whatever_a_bot_does_the_run_ends_and_the_next_one_works(
    make: Make, attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Hexagon ends with the first answer that is late.
    workshop = make("hexagon")
    workshop.write("bot.py", HEXAGON.replace("{body}", indented(ATTACKS[attack])))
    run = workshop.run()
    assert run["words"]
    assert sum(len(text) for _, text in run["output"]) < 200_000
    if attack == "a line of 10 MB":
        assert any("bytes left out" in text for _, text in run["output"])
    else:
        assert "mine" in run["words"]
    # What the attack has left behind may slow the next one down.
    patience.be_patient(monkeypatch.setattr)
    workshop.write("bot.py", HEXAGON.replace("{body}\n", ""))
    # Both play at random, so that a draw can come of it.
    assert re.search("by score|Draw", workshop.run()["words"])


def test_what_cannot_be_run_is_a_sentence(workshop: Workshop) -> None:
    assert "there are" in workshop.ask("POST", "run", {"opponent": "nobody"}, 400)["error"].lower()
    assert "seat" in workshop.ask("POST", "run", {"opponent": "random", "seat": 9}, 400)["error"]
    assert workshop.ask("POST", "run", {"opponent": 3}, 400)["error"]
    assert workshop.ask("GET", "run", code=404)["error"]
    assert "run the bot first" in workshop.ask("POST", "ask", {"turn": 1}, 400)["error"]
    (workshop.place / "bot.py").unlink()
    assert "bot.py" in workshop.ask("POST", "run", {"opponent": "random"}, 400)["error"]


@pytest.mark.thorough
@pytest.mark.usefixtures("patient_painters")
def test_a_series_is_played_by_the_bot_as_it_was(workshop: Workshop) -> None:
    workshop.write("bot.py", paint(f"return {WALK}"))
    workshop.ask("POST", "series", {"opponent": "still", "matches": 20}, 201)
    workshop.wait("series", lambda series: series["total"] == 20)
    workshop.write("bot.py", "this is not a program")
    answer = workshop.wait("series", lambda series: not series["goes_on"])
    assert answer["trouble"] == ""
    assert [match["seat"] for match in answer["matches"]] == [1, 2] * 10
    assert answer["tally"]["wins"] + answer["tally"]["draws"] + answer["tally"]["losses"] == 20
    low, high = answer["tally"]["interval"]
    assert low <= answer["tally"]["win_rate"] <= high
    packed = workshop.client.get(f"http://{HOST}/workshop/paint/series/3/document").data
    replay = json.loads(gzip.decompress(packed))
    assert replay["seed"] == answer["matches"][2]["seed"]
    workshop.ask("GET", "series/21/document", code=404)


def test_a_series_has_bounds_and_can_be_stopped(workshop: Workshop) -> None:
    for number in (19, 401, 10**12):
        refused = workshop.ask("POST", "series", {"opponent": "still", "matches": number}, 400)
        assert "20 to 400" in refused["error"]
    workshop.ask("POST", "series", {"opponent": "still", "matches": 400}, 201)
    workshop.wait("series", lambda series: series["matches"])
    workshop.ask("POST", "series/stop")
    series = workshop.ask("GET", "series")
    assert not series["goes_on"]
    assert series["trouble"] == "stopped"


def test_a_check_says_what_to_do(workshop: Workshop) -> None:
    workshop.write("bot.py", paint("return 7"))
    workshop.ask("POST", "check", code=201)
    answer = workshop.wait("check", lambda state: not state["goes_on"])
    assert [step["ok"] for step in answer["steps"]][-1] is False
    assert answer["steps"][-1]["fix"]


def test_files_are_saved_and_conflicts_told(workshop: Workshop) -> None:
    [main, *_] = workshop.ask("GET", "files")["files"]
    assert main["name"] == "bot.py"
    saved = workshop.ask("PUT", "files/bot.py", {"text": "one", "base": main["digest"]})
    workshop.write("bot.py", "theirs")
    answer = workshop.ask("PUT", "files/bot.py", {"text": "two", "base": saved["digest"]}, 409)
    assert answer["now"]["text"] == "theirs"
    assert workshop.ask("PUT", "files/..%2Fx", {"text": "x", "base": ""}, 404)
    assert workshop.ask("PUT", "files/.x", {"text": "x", "base": ""}, 400)
    assert workshop.ask("PUT", "files/bot.py", {"text": 3}, 400)
