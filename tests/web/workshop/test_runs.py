"""Runs of a bot: what is told of them, whatever the bot does."""

from __future__ import annotations

import gzip
import json
import time

import pytest

from cw.arena.processes import PROC
from cw.games.registry import load_strategies
from tests.browser.conftest import first_is_fast
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


def paint(body: str) -> str:
    """Return a bot of Paint that does something when it is asked."""
    lines = (f"        {line}" for line in body.splitlines())
    return PAINT.replace("{body}", "\n".join(lines))


def replay_of(workshop: Workshop, told: Json) -> Json:
    """Return the replay of a run."""
    address = f"http://{HOST}/matches/{told['match']}/document"
    return workshop.client.get(address).get_json()


def processes_with(text: str) -> list[str]:
    """Return the processes whose command line holds a text."""
    found = []
    for folder in PROC.iterdir():
        if folder.name.isdecimal():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in command:
                found.append(folder.name)
    return found


@pytest.fixture
def workshop(make: Make) -> Workshop:
    return make("paint")


@pytest.mark.parametrize(
    "game", first_is_fast(["paint", "circuit-wars", "code-battle", "end-of-codes", "hexagon"])
)
def test_a_kit_plays_at_once(make: Make, game: str) -> None:
    workshop = make(game)
    told = workshop.run(opponent=list(load_strategies(game))[-1])
    assert not told["failed"], told
    assert told["words"]
    assert told["marks"] == []
    assert replay_of(workshop, told)["live"]["over"]
    asked = next(
        asked
        for turn in range(1, 4)
        if (asked := workshop.ask("GET", f"run/turns/{turn}"))["exchanges"]
    )
    assert asked["exchanges"][0]["question"]
    assert asked["action"] is not None


@pytest.mark.thorough
@pytest.mark.parametrize("language", ["javascript", "php", "ruby", "go", "java", "c", "cpp"])
def test_every_language_is_built_and_runs(make: Make, language: str) -> None:
    workshop = make("paint", language)
    told = workshop.run()
    assert not told["failed"], told
    main = workshop.ask("GET", "files")["files"][0]
    workshop.write(main["name"], main["text"] + "\n@ no language takes this (\n")
    told = workshop.run()
    assert {mark["file"] for mark in told["marks"]} == {main["name"]}, told


def test_the_output_stands_by_turn_and_leads_to_the_line(workshop: Workshop) -> None:
    workshop.write(
        "bot.py",
        paint(RAISES),
    )
    told = workshop.run()
    assert "crashed" in told["words"]
    by_turn = dict(told["output"])
    assert by_turn[1].startswith("hm \\x1b[31m <b>\n")
    [mark] = told["marks"]
    assert (mark["file"], mark["line"], mark["words"]) == ("bot.py", 5, "KeyError: 3")
    assert mark["turn"] in by_turn
    asked = workshop.ask("GET", f"run/turns/{mark['turn']}")
    assert "crashed" in asked["exchanges"][0]["fault"]


def test_output_is_told_while_the_match_is_played(workshop: Workshop) -> None:
    waits = 'print("here", state.turns_left, file=sys.stderr)\ntime.sleep(0.3)\n'
    workshop.write("bot.py", paint(f"{waits}return {WALK}"))
    workshop.ask("POST", "run", {"opponent": "random"}, 201)
    told = workshop.wait("run", lambda told: len(told["output"]) > 2 or told["over"])
    workshop.ask("POST", "stop")
    assert not told["over"]
    assert [turn for turn, _ in told["output"]][-2:] == [2, 3]
    assert told["output"][-1][1].startswith("here 98\n")
    assert workshop.ask("GET", "run")["output"]


def test_the_bot_is_asked_again_as_it_is_now(workshop: Workshop) -> None:
    workshop.write("bot.py", paint(f"return {WALK}"))
    workshop.run()
    workshop.write("bot.py", paint('print("again", file=sys.stderr)\nreturn ("walk", (0, -1))'))
    told = workshop.ask("POST", "ask", {"turn": 2})
    assert told["before"] == {"type": "walk", "direction": [0, 1]}
    assert told["after"] == {"type": "walk", "direction": [0, -1]}
    assert told["changed"]
    assert "again" in told["stderr"]
    assert "asked nothing" in workshop.ask("POST", "ask", {"turn": 4000}, 400)["error"]


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
        workshop.wait("run", lambda told: told["ready"])
    matches = workshop.app.extensions["matches"]
    assert "another run" in matches.find(names[0]).trouble
    began = time.monotonic()
    workshop.ask("POST", "stop")
    stopped = time.monotonic() - began
    told = workshop.ask("GET", "run")
    assert told["over"]
    assert "you have stopped it" in told["words"]
    assert processes_with(place) == []
    assert stopped < 30  # seconds; docs/performance.md has what a quiet machine takes
    workshop.write("bot.py", paint(f"return {WALK}"))
    assert not workshop.run()["failed"]


ATTACKS = {
    "a line of 10 MB": f"os.write(2, b'<b>' * 3333333)\nreturn {WALK}",
    "loops": "while True: pass",
    "writes a gigabyte": "while True: os.write(2, b'x' * 1000000)",
    "floods its answers": "while True: os.write(1, b'x' * 1000000)",
    "forks": "while True: os.fork()",
    "fills memory": "x = []\nwhile True: x.append(bytearray(10**8))",
}


@pytest.mark.limits_of_the_rules
@pytest.mark.parametrize("attack", first_is_fast(ATTACKS))
def test_whatever_a_bot_does_the_run_ends_and_the_next_one_works(
    workshop: Workshop, attack: str
) -> None:
    workshop.write("bot.py", paint(ATTACKS[attack]))
    told = workshop.run()
    assert told["words"]
    assert sum(len(text) for _, text in told["output"]) < 200_000
    if attack == "a line of 10 MB":
        assert any("bytes left out" in text for _, text in told["output"])
    else:
        assert "mine" in told["words"]
    workshop.write("bot.py", paint(f"return {WALK}"))
    assert "crashed" not in workshop.run()["words"]


def test_what_cannot_be_run_is_a_sentence(workshop: Workshop) -> None:
    assert "there are" in workshop.ask("POST", "run", {"opponent": "nobody"}, 400)["error"].lower()
    assert "seat" in workshop.ask("POST", "run", {"opponent": "random", "seat": 9}, 400)["error"]
    assert workshop.ask("POST", "run", {"opponent": 3}, 400)["error"]
    assert workshop.ask("GET", "run", code=404)["error"]
    assert "run the bot first" in workshop.ask("POST", "ask", {"turn": 1}, 400)["error"]
    (workshop.place / "bot.py").unlink()
    assert "bot.py" in workshop.ask("POST", "run", {"opponent": "random"}, 400)["error"]


@pytest.mark.thorough
def test_a_series_is_played_by_the_bot_as_it_was(workshop: Workshop) -> None:
    workshop.write("bot.py", paint(f"return {WALK}"))
    workshop.ask("POST", "series", {"opponent": "still", "matches": 20}, 201)
    workshop.wait("series", lambda told: told["total"] == 20)
    workshop.write("bot.py", "this is no program")
    told = workshop.wait("series", lambda told: not told["goes_on"])
    assert told["trouble"] == ""
    assert [match["seat"] for match in told["matches"]] == [1, 2] * 10
    assert told["tally"]["wins"] + told["tally"]["draws"] + told["tally"]["losses"] == 20
    low, high = told["tally"]["interval"]
    assert low <= told["tally"]["win_rate"] <= high
    packed = workshop.client.get(f"http://{HOST}/workshop/paint/series/3/document").data
    replay = json.loads(gzip.decompress(packed))
    assert replay["seed"] == told["matches"][2]["seed"]
    workshop.ask("GET", "series/21/document", code=404)


def test_a_series_has_bounds_and_can_be_stopped(workshop: Workshop) -> None:
    workshop.ask("POST", "series", {"opponent": "still", "matches": 401}, 201)
    assert "20 to 400" in workshop.wait("series", lambda told: not told["goes_on"])["trouble"]
    workshop.ask("POST", "series", {"opponent": "still", "matches": 400}, 201)
    workshop.wait("series", lambda told: told["matches"])
    workshop.ask("POST", "series/stop")
    told = workshop.ask("GET", "series")
    assert not told["goes_on"]
    assert told["trouble"] == "stopped"


def test_a_check_says_what_to_do(workshop: Workshop) -> None:
    workshop.write("bot.py", paint("return 7"))
    workshop.ask("POST", "check", code=201)
    told = workshop.wait("check", lambda told: not told["goes_on"])
    assert [step["ok"] for step in told["steps"]][-1] is False
    assert told["steps"][-1]["fix"]


def test_files_are_saved_and_conflicts_told(workshop: Workshop) -> None:
    [main, *_] = workshop.ask("GET", "files")["files"]
    assert main["name"] == "bot.py"
    saved = workshop.ask("PUT", "files/bot.py", {"text": "one", "base": main["digest"]})
    workshop.write("bot.py", "theirs")
    told = workshop.ask("PUT", "files/bot.py", {"text": "two", "base": saved["digest"]}, 409)
    assert told["now"]["text"] == "theirs"
    assert workshop.ask("PUT", "files/..%2Fx", {"text": "x", "base": ""}, 404)
    assert workshop.ask("PUT", "files/.x", {"text": "x", "base": ""}, 400)
    assert workshop.ask("PUT", "files/bot.py", {"text": 3}, 400)
