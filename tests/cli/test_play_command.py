"""`cw play` and `cw replay` from the command line to the files."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner, Result

from cw.cli import main
from cw.replays import document as replays_document
from tests.interpreter import PYTHON
from tests.matches.bots_of_games import PAINT, write
from tests.processes import NEEDS_PROC, descendants, is_running
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = pytest.mark.usefixtures("patient_painters")


def cw(*arguments: str | int | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where replays may be written."""
    monkeypatch.chdir(tmp_path)


def test_a_match_as_json(tmp_path: Path) -> None:
    out = tmp_path / "match.json.gz"
    result = cw(
        "play", "paint", "builtin:greedy", "you=builtin:walker",
        "--seed", 4, "--option", "turns=12", "--out", out, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert {key: report[key] for key in ("game", "seed", "reason", "turns", "replay")} == {
        "game": "paint",
        "seed": 4,
        "reason": "turns_over",
        "turns": 12,
        "replay": str(out),
    }
    assert [player["name"] for player in report["players"]] == ["greedy", "you"]
    assert report["winner"] == max(report["players"], key=lambda player: player["score"])["name"]
    assert report["won_by"] == "score"
    assert report["verdict"].startswith(f"{report['winner']} won by score in turn 12: ")
    assert all(player.keys() == {"name", "rank", "score", "faults"} for player in report["players"])


@pytest.mark.parametrize(
    ("game", "bots", "options"),
    [
        ("circuit-wars", ("greedy", "random"), ("size=3",)),
        ("code-battle", ("gatherer", "random"), ("max_turns=15",)),
        ("end-of-codes", ("sample", "sample"), ("M=5", "MAX_HP=2")),
        ("hexagon", ("greedy", "random"), ("size=3",)),
        ("paint", ("greedy", "random"), ("turns=10",)),
    ],
)
def test_every_game_is_played_shown_and_verified(
    tmp_path: Path, game: str, bots: tuple[str, ...], options: tuple[str, ...]
) -> None:
    out = tmp_path / "match.json"
    option_arguments = [part for option in options for part in ("--option", option)]
    result = cw("play", game, *(f"builtin:{bot}" for bot in bots), *option_arguments, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert f"replay: {out}" in result.stdout
    assert cw("replay", "verify", out).stdout == f"{out}: ok\n"
    for turn in ("0", "1", "-1"):
        turn_output = cw("replay", "show", out, "--turn", turn)
        assert turn_output.exit_code == 0
        assert "turn " in turn_output.stdout
    packed = tmp_path / "packed.json.gz"
    assert cw("replay", "export", out, "--gz", "--out", packed).exit_code == 0
    assert cw("replay", "verify", packed, "--json").exit_code == 0
    own = cw("replay", "export", out, "--game", "--out", tmp_path / "own.json")
    assert own.exit_code == (0 if game == "code-battle" else 2)


def test_seats_are_swapped_and_seeds_go_on(tmp_path: Path) -> None:
    result = cw(
        "play", "hexagon", "builtin:greedy", "builtin:random",
        "--option", "size=3", "--games", 2, "--swap", "--seed", 8, "--json", "--out", tmp_path,
    )  # fmt: skip
    reports = [json.loads(line) for line in result.stdout.splitlines()]
    assert [report["seed"] for report in reports] == [8, 8, 9, 9]
    assert [report["players"][0]["name"] for report in reports] == [
        "greedy", "random", "greedy", "random",
    ]  # fmt: skip
    assert len(list(tmp_path.iterdir())) == 4
    assert cw("replay", "verify", *tmp_path.iterdir()).exit_code == 0


def test_several_matches_are_one_table() -> None:
    def table_lines(*bots: str) -> list[str]:
        options = ("--option", "turns=10", "--seed", 1)
        result = cw("play", "paint", *bots, *options)
        assert len(result.stderr.splitlines()) >= 2 * ("--games" in bots)
        return [" ".join(line.split()) for line in result.stdout.splitlines()]

    lines = table_lines("builtin:still", "me=builtin:walker", "--games", "2", "--swap")
    assert lines[:4] == [
        "4 matches of paint, seeds 1 to 2",
        "",
        "win 95 % average won by",
        "bot won drawn lost rate CI score faults seat",
    ]
    assert re.fullmatch(r"me 4 0 0 100.0% 51%-100% \d+\.\d 0 2/2 2/2", lines[4])
    assert lines[5] == "still 0 0 4 0.0% 0%-49% 1.0 40 0/2 0/2"
    assert lines[-2:] == [
        "ended by: turns over 4",
        "replays: replays/paint-1-1.json.gz to replays/paint-2-4.json.gz",
    ]
    draws = table_lines("builtin:still", "builtin:still", "--games", "2")
    assert draws[4:6] == [
        f"still-{n} 0 2 0 50.0% 9%-91% 1.0 20 {seats}" for n, seats in ((1, "0/2"), (2, "0/2"))
    ]
    assert table_lines("builtin:still", "builtin:walker")[0].startswith(
        "paint, seed 1: walker won by score"
    )


def test_the_faults_of_a_bot_are_explained_once_in_a_series(tmp_path: Path) -> None:
    bot = write(tmp_path, PAINT, ('"direction": [1, 0]', '"direction": "up"'))
    result = cw("play", "paint", "builtin:walker", bot, "--games", 3, "--option", "turns=2")
    assert result.stderr.count("repeat it: ") == 1
    assert result.stderr.count("illegal: expected type") == 1
    assert "(and 1 more like it, the last in turn 2)" in result.stderr
    assert "bot.py made an illegal move in turn 1, the first of 2 faults." in result.stderr
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("bot.py "))
    assert line.split()[-2:] == ["6", "0/3"]


def test_a_bot_that_never_starts_is_said(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("raise SystemExit(3)")
    result = cw("play", "hexagon", "builtin:greedy", bot, "--no-replay", "--seed", 1)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "hexagon, seed 1: greedy won by forfeit: bot.py never played."
    assert lines[2].split()[:2] == ["2.", "bot.py"]


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_a_table_fits_the_terminal(columns: int) -> None:
    command = ["simulate", "circuit-wars", "greedy", "random", "--jobs", "1"]
    runner = CliRunner(env={"COLUMNS": str(columns)})
    done = runner.invoke(main, [*command, "--games", "20", "--option", "size=3"])
    assert done.exit_code == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= columns
    if columns >= 60:
        assert "\N{HORIZONTAL ELLIPSIS}" not in done.stdout


def test_a_pipe_that_is_closed_early_is_no_error() -> None:
    words = f"{PYTHON} -m cw simulate circuit-wars greedy random --games 4 --option size=3"
    for command in (words, f"{PYTHON} -m cw bots", f"{PYTHON} -m cw bots kits"):
        done = subprocess.run(
            f"{command} | head -1",
            shell=True,
            check=True,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert len(done.stdout.splitlines()) == 1
        assert "Traceback" not in done.stderr
        assert "BrokenPipe" not in done.stderr


def test_a_refused_reply_is_explained(tmp_path: Path) -> None:
    bot = write(tmp_path, PAINT, ('"direction": [1, 0]', '"direction": "up"'))
    result = cw("play", "paint", "builtin:random", f"me={bot}", "--option", "turns=2")
    assert result.exit_code == 0
    output = " ".join(result.stderr.split())
    assert "turn 1: me: illegal: expected type" in output
    assert '"up"' in output
    assert "cw replay line replays/paint-" in output
    assert "| cw step paint" in output
    assert len(list(Path("replays").iterdir())) == 1
    assert cw("replay", "verify", *Path("replays").iterdir()).exit_code == 0


def test_no_replay_is_written_where_none_is_wanted() -> None:
    bots = ("builtin:random", "builtin:walker", "--option", "turns=2")
    result = cw("play", "paint", *bots, "--no-replay", "--json")
    assert json.loads(result.stdout)["replay"] is None
    assert not Path("replays").exists()


@pytest.mark.thorough
def test_matches_at_the_same_time_end_as_one_after_the_other(tmp_path: Path) -> None:
    bot = write(tmp_path, PAINT)
    options = ("--games", 2, "--swap", "--seed", 3, "--option", "turns=12", "--json", "-v")
    alone, together = (
        cw("play", "paint", "builtin:greedy", bot, *options, "--out", "match.json", "--jobs", jobs)
        for jobs in (1, 3)
    )
    assert together.exit_code == 0, together.stderr
    assert together.stdout == alone.stdout
    assert together.stderr == alone.stderr
    assert "bot.py: " in together.stderr
    assert cw("replay", "verify", *Path().glob("match-*.json")).exit_code == 0
    reports = [json.loads(line) for line in together.stdout.splitlines()]
    assert [report["replay"] for report in reports] == [f"match-{n}.json" for n in (1, 2, 3, 4)]
    for report in reports:
        document = json.loads(Path(report["replay"]).read_bytes())
        assert document["seed"] == report["seed"]
        assert [player["name"] for player in document["players"]] == [
            player["name"] for player in report["players"]
        ]


@pytest.mark.thorough
def test_the_first_match_that_cannot_be_played_ends_matches_at_the_same_time() -> None:
    bots = ("builtin:random", "builtin:random", "--games", 3, "--option", "hat=1")
    alone, together = (cw("play", "paint", *bots, "--jobs", jobs) for jobs in (1, 2))
    assert together.exit_code == alone.exit_code == 2
    assert together.stderr == alone.stderr


def test_one_board_is_watched() -> None:
    bots = ("builtin:greedy", "builtin:walker", "--games", 2)
    result = cw("play", "paint", *bots, "--jobs", 2, "--watch")
    assert result.exit_code == 2
    assert "--watch shows one match at a time" in result.stderr


def test_a_turn_is_repeated_by_cw_step(tmp_path: Path) -> None:
    out = tmp_path / "match.json"
    cw("play", "hexagon", "builtin:greedy", "builtin:random", "--option", "size=3", "--out", out)
    line = cw("replay", "line", out, "--turn", 3).stdout
    stepped = json.loads(CliRunner().invoke(main, ["step", "hexagon"], input=line).stdout)
    after = json.loads(cw("replay", "line", out, "--turn", 4).stdout)
    assert stepped["state"] == after["state"]
    for name in ("1", "greedy"):
        seen = cw("replay", "line", out, "--turn", 3, "--player", name).stdout
        view = json.loads(CliRunner().invoke(main, ["observe", "hexagon"], input=seen).stdout)
        assert view["view"] == json.loads(line)["state"]
    assert cw("replay", "line", out, "--turn", 999).exit_code == 2
    assert cw("replay", "line", out, "--turn", 0).exit_code == 2
    unknown = cw("replay", "line", out, "--turn", 3, "--player", "greddy")
    assert "did you mean greedy?" in unknown.stderr


CRASHING = """
import json, sys
for line in sys.stdin:
    state = json.loads(line)
    if "player_id" in state:
        print("POST /games 200 0.5 ms", file=sys.stderr)
        print('{"ready":true}', flush=True)
        continue
    turn = state["turns_left"]
    if turn < 8:
        raise ValueError("my bug")
    print(json.dumps({"turns_left": turn, "type": "walk", "direction": [0, 1]}), flush=True)
"""


def test_a_crash_is_told_once_and_its_turn_can_be_typed(tmp_path: Path) -> None:
    bot = f"me={write(tmp_path, CRASHING)}"
    result = cw("play", "paint", "builtin:random", bot, "--option", "turns=10", "--seed", 1)
    assert result.stderr.count("Traceback") == 1
    assert "POST /games" not in result.stderr
    *_, line, repeat, see = result.stderr.splitlines()
    assert line == (
        "turn 4: me: crashed: the program exited early (exit code 1):"
        " ValueError: my bug (bot.py, line 11)"
    )
    typed = shlex.split(repeat.removeprefix("repeat it: cw ").partition(" | ")[0])
    assert typed[-2:] == ["--turn", "4"]
    (turn,) = [json.loads(cw(*typed).stdout)]
    assert turn["actions"]["me"]["fault"] == "crashed"
    typed = shlex.split(see.removeprefix("what it saw: cw ").partition(" | ")[0])
    assert json.loads(cw(*typed).stdout)["player"] == "me"
    report = json.loads(
        cw("play", "paint", "builtin:random", bot, "--option", "turns=10", "--json").stdout
    )
    (fault,) = report["players"][1]["faults"]
    assert fault["turn"] == 3, "in JSON the turns before it are counted"


@NEEDS_BUBBLEWRAP
def test_how_a_program_is_isolated_is_not_told_where_it_is_as_usual(tmp_path: Path) -> None:
    match = ("play", "paint", "builtin:random", write(tmp_path, PAINT), "--option", "turns=2")
    assert "bubblewrap" not in cw(*match).stderr
    assert "bubblewrap" in cw(*match, "-v").stderr


def test_how_a_program_is_isolated_is_told_where_it_is_weak(tmp_path: Path) -> None:
    match = ("play", "paint", "builtin:random", write(tmp_path, PAINT), "--option", "turns=2")
    weak = " ".join(cw(*match, "--sandbox", "off").stderr.split())
    assert "bot.py: LIMITS ONLY, it can read your files and use your network" in weak
    assert "-v shows more" in weak
    assert "256 open files" not in weak
    assert "256 open files" in " ".join(cw(*match, "-v").stderr.split())


def test_the_replay_of_code_battle_in_its_own_format(tmp_path: Path) -> None:
    out, own = tmp_path / "match.json.gz", tmp_path / "own.json"
    cw(
        "play", "code-battle", "builtin:gatherer", "builtin:rusher", "--seed", 3,
        "--option", "max_turns=60", "--out", out,
    )  # fmt: skip
    assert cw("replay", "export", out, "--game", "--out", own).exit_code == 0
    document = json.loads(own.read_bytes())
    assert list(document) == [
        "version", "match_id", "date", "seed", "players", "result", "config", "map", "turns",
    ]  # fmt: skip
    assert document["result"]["turns"] == len(document["turns"]) == 60
    collected = sum(len(t) for turn in document["turns"] for t in turn["energy_collected"].values())
    assert collected == sum(document["result"]["final_energy"])
    assert document["turns"][-1]["scores"] == document["result"]["final_scores"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("play", "chess", "builtin:random"),
        ("play", "paint", "builtin:random"),
        ("play", "paint", "builtin:random", "builtin:nobody"),
        ("play", "paint", "builtin:random", "nowhere.py"),
        ("play", "paint", "builtin:random", "builtin:random", "--option", "hat=1"),
        ("play", "paint", "builtin:random", "builtin:random", "--set", "c.secret=1"),
        ("play", "paint", "builtin:random", "http://127.0.0.1:3000"),
        ("play", "circuit-wars", "builtin:random", "http://127.0.0.1:1"),
        ("replay", "show", "nowhere.json"),
        ("replay", "show", __file__),
        ("check", "paint", "nowhere.py"),
        ("bots", "serve", "circuit-wars", "greedy"),
        ("bots", "serve", "hexagon", "greedy", "--lines"),
        ("bots", "serve", "hexagon", "nobody"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_said_in_a_line(arguments: tuple[str, ...]) -> None:
    result = cw(*arguments)
    assert result.exit_code == 2, result.output
    assert "Error: " in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("play", "pant", "builtin:random"), "there is no game 'pant'; did you mean paint? "),
        (("play", "paint", "greedy", "random"), "no file 'greedy'; did you mean builtin:greedy? "),
        (("play", "paint", "bultin:gredy", "x"), "did you mean builtin:greedy? "),
        (("play", "paint", "builtin:gredy", "builtin:random"), "did you mean greedy? "),
        (("play", "hexagon", "builtin:greedy"), "hexagon needs exactly 2 bots; you gave 1"),
        (("play", "paint", "builtin:greedy"), "paint needs 2 to 10000 bots; you gave 1"),
        (("play", "code-battle", "builtin:rusher"), "code-battle needs 2 to 6 bots; you gave 1"),
        (("play", "end-of-codes", *["builtin:sample"] * 1001), "1 to 1000 bots; you gave 1001"),
        (("check", "paint", "greedy"), "did you mean builtin:greedy? "),
        (("bots", "jion", "http://127.0.0.1:1", "greedy"), "did you mean join? "),
        (("bots", "serve", "hexagon", "gredy"), "did you mean greedy? "),
        (("simulate", "paint", "gredy", "random"), "did you mean greedy? "),
        (("new-bot", "paint", "pyhton", "x"), "did you mean python? "),
        (("plya", "paint"), "there is no command 'plya'; did you mean play? "),
        (("replay", "shwo", "x"), "did you mean show? "),
        (("play", "--gmes", "3"), "Did you mean '--games'?"),
        (
            ("play", "paint", *["builtin:greedy"] * 2, "--option", "turn=3"),
            "unknown option 'turn'; did you mean turns? ",
        ),
    ],
    ids=str,
)
def test_what_was_meant_is_said(arguments: tuple[str, ...], message: str) -> None:
    result = cw(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_a_changed_replay_fails(tmp_path: Path) -> None:
    out = tmp_path / "match.json"
    cw("play", "hexagon", "builtin:greedy", "builtin:random", "--option", "size=2", "--out", out)
    document = json.loads(out.read_bytes())
    document["seed"] += 1
    out.write_text(json.dumps(document))
    result = cw("replay", "verify", out)
    assert result.exit_code == 1
    assert "the file was changed" in result.stdout


@NEEDS_PROC
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_ctrl_c_leaves_no_process(tmp_path: Path, jobs: int) -> None:
    bot = write(tmp_path, PAINT, ("turn = state", "import time; time.sleep(0.4); turn = state"))
    command = [sys.executable, "-m", "cw", "play", "paint", bot, bot, "--no-watch"]
    command += ["--games", "3", "--jobs", str(jobs)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as match:
        until = time.monotonic() + 300
        started: list[int] = []
        # Two bots for each match, and where there are several a process that plays it.
        expected = 2 if jobs == 1 else 3 * jobs
        while len(started) < expected and time.monotonic() < until:
            started = descendants(match.pid)
            time.sleep(0.05)
        assert len(started) >= expected
        os.kill(match.pid, signal.SIGINT)
        assert match.wait(300) != 0
    # The system takes a moment to bury what was killed with its namespace.
    until = time.monotonic() + 300
    while any(map(is_running, started)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_running, started))


def test_a_match_is_watched_in_the_browser_until_ctrl_c(tmp_path: Path) -> None:
    out = tmp_path / "match.json.gz"
    command = [sys.executable, "-m", "cw", "play", "hexagon", "builtin:greedy", "builtin:random"]
    options = ["--browser", "--delay", "0.01", "--option", "size=3", "--out", str(out)]
    # Where it is set, this program takes the place of the browser.
    environment = os.environ | {"BROWSER": "true"}
    with subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as match:
        assert match.stdout is not None
        assert match.stderr is not None
        address = match.stderr.readline().rpartition(" ")[2].strip()
        assert "hexagon, seed" in match.stdout.readline()
        assert requests.get(address, timeout=60).status_code == 200
        # What the page shows is told by a thread of its own.
        until = time.monotonic() + 300
        while not (document := requests.get(f"{address}/document", timeout=60).json())["live"][
            "over"
        ]:
            assert time.monotonic() < until
        assert document["hash"] == replays_document.decode(out.read_bytes())["hash"]
        match.send_signal(signal.SIGINT)
        assert match.wait(300) == 0


def test_the_browser_shows_one_match() -> None:
    result = cw("play", "paint", "builtin:greedy", "builtin:walker", "--browser", "--games", 2)
    assert result.exit_code == 2
    assert "--browser shows one match" in result.stderr
