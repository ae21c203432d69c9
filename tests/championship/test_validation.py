"""The teams are tried before a championship begins: who fails is told, and nothing is played."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from cw.championship.config import settings_of
from cw.championship.runner import CLIENTS, Trial, cores, lanes_for
from cw.championship.teams import read_teams
from cw.matches.spec import Isolation
from tests import seed_clients
from tests.arena.zoo import wait_until
from tests.championship.contests import built_in, cw, lines_of, make_teams, service
from tests.matches.bots_of_games import HEXAGON, PAINT
from tests.patience import PROGRAM
from tests.processes import NEEDS_PROC, descendants, is_running
from tests.tools import NEEDS_BUBBLEWRAP, PROBLEM

GAME = ("--game", "paint", "--option", "turns=5")
BROKEN = PAINT + "\ndef f(:\n"
CRASHING = PAINT.replace('turn = state["turns_left"]', 'turn = state["turn"]')

ONLY_ALONE = HEXAGON.replace(
    "GAMES = {}",
    "from threading import Barrier\nGAMES = {}\nTOGETHER = Barrier(2)\nTRIED = []",
).replace(
    "        said = self.read()\n        GAMES",
    """        said = self.read()
        TRIED.append(said["id"])
        if len(TRIED) <= 2:
            TOGETHER.wait(60)
            return self.reply({}, 500)
        if GAMES:
            return self.reply({}, 500)
        GAMES""",
)
"""A web service that fails its first two matches, which begin together, and any that overlap."""


@pytest.fixture
def teams(tmp_path: Path) -> Path:
    """Give two teams that can play, and three that cannot."""
    folder = make_teams(tmp_path / "teams", {"ann": PAINT, "bob": PAINT, "zoe": BROKEN}, "bot.py")
    make_teams(folder, {"Team 4": CRASHING}, "bot.py")
    make_teams(folder, {"two": PAINT}, "bot.py")
    (folder / "two" / "bot.js").touch()
    return folder


def test_nothing_is_played_if_a_team_fails_and_all_that_fail_are_told(
    tmp_path: Path, teams: Path
) -> None:
    out = tmp_path / "out"
    refused = cw("run", teams, *GAME, "--out", out)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert not out.exists()
    # A warning precedes them where no sandbox works.
    trying, error, crash, two, broken = map(str.strip, refused.stderr.splitlines()[-5:])
    assert trying == "Trying 4 teams, each in a match against random moves."
    assert error.startswith("Error: 3 of 5 teams cannot play; fix them, or leave them out with --")
    assert crash.startswith("Team 4 (Team-4): turn 1: crashed: ")
    assert "KeyError: 'turn' (bot.py, line " in crash
    assert two.startswith("two: ")
    assert "has several programs" in two
    assert broken.startswith("zoe: startup: ")
    assert "SyntaxError" in broken


def test_teams_that_fail_are_left_out_and_stay_out(tmp_path: Path, teams: Path) -> None:
    out = tmp_path / "out"
    run = ("run", teams, *GAME, "--format", "gauntlet", "--out", out, "--skip-broken")
    played = cw(*run)
    assert played.exit_code == 0, played.output + played.stderr
    assert "Left out: zoe: startup: " in played.stderr
    assert list(settings_of(out).left_out) == ["Team-4", "two", "zoe"]
    assert "zoe: left out: startup: " in (out / "report" / "index.html").read_text()
    assert {team for line in lines_of(out) for team in line["players"]} == {"ann", "bob"}
    again = cw(*run)
    assert again.exit_code == 2
    assert "contains a championship already" in again.stderr
    # Whoever is mended in between plays in the next championship, and nobody is tried again.
    (teams / "zoe" / "bot.py").write_text(PAINT)
    (teams / "ann" / "bot.py").write_text(BROKEN)
    for more in ((*run, "--resume"), ("resume", out)):
        resumed = cw(*more)
        assert resumed.exit_code == 0, resumed.stderr
        assert "Trying" not in resumed.stderr
    assert cw(*run, "--resume", "--seed", "2").exit_code == 2


def test_teams_may_play_untried(tmp_path: Path, teams: Path) -> None:
    (teams / "two" / "bot.js").unlink()
    out = tmp_path / "out"
    run = ("run", teams, *GAME, "--format", "gauntlet", "--out", out)
    assert "let them play as they are with --no-validate" in cw(*run).stderr
    played = cw(*run, "--no-validate")
    assert played.exit_code == 0
    assert "Trying" not in played.stderr
    assert "Team-4" in settings_of(out).teams


def test_fewer_than_two_teams_that_can_play_are_no_championship(tmp_path: Path) -> None:
    folder = make_teams(tmp_path / "teams", {"ann": PAINT, "zoe": BROKEN}, "bot.py")
    refused = cw("run", folder, *GAME, "--out", tmp_path / "out", "--skip-broken")
    assert refused.exit_code == 2
    assert "contains 1 team; 1 more cannot play: a championship needs 2" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_the_trial_is_a_match_of_the_championship(tmp_path: Path) -> None:
    sources = {"ann": seed_clients.QUICK_PYTHON, "bob": seed_clients.QUICK_PYTHON}
    folder = make_teams(tmp_path / "teams", sources)
    arguments = ("--option", "size=5")
    assert cw("validate", folder, *arguments).exit_code == 1
    refused = cw("run", folder, *arguments, "--out", tmp_path / "out")
    assert refused.exit_code == 1
    assert "2 of 2 teams cannot play" in refused.stderr


def test_the_trial_has_as_many_players_as_a_match(tmp_path: Path) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "greedy", "walker"))
    ann, *_ = read_teams(file, "paint")
    assert len(Trial("paint", {}, Isolation()).job(ann).spec.bots) == 2
    assert len(Trial("paint", {}, Isolation(), seats=4).job(ann).spec.bots) == 4
    arguments = ("--format", "free-for-all", "--players", 3, "--rounds", 1)
    played = cw("run", file, *GAME, *arguments, "--out", tmp_path / "out")
    assert played.exit_code == 0, played.stderr


def test_who_fails_among_others_is_tried_once_more_alone(tmp_path: Path) -> None:
    program = tmp_path / "service.py"
    program.write_text(ONLY_ALONE.replace(
        'ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Bot).serve_forever()',
        'server = ThreadingHTTPServer(("127.0.0.1", 0), Bot)\n'
        'print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)\n'
        "server.serve_forever()",
    ))  # fmt: skip
    file = tmp_path / "teams.toml"
    with service(program) as address:
        tables = [f'[teams.{name}]\nbot = "{address}"\n' for name in ("ann", "bob")]
        file.write_text("".join(tables))
        options = ("--game", "hexagon", "--option", "size=3", "--option", "timeout=60")
        result = cw("validate", file, *options, "--jobs", 2)
    assert result.exit_code == 0, result.output + result.stderr
    assert result.stdout == "ann: ok\nbob: ok\n"


def test_a_web_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    file = built_in(tmp_path / "teams.toml", ("random", "greedy"))
    with file.open("a") as more:
        more.write('[teams.away]\nbot = "http://127.0.0.1:9"\n')
    refused = cw("run", file, "--game", "hexagon", "--out", tmp_path / "out")
    assert refused.exit_code == 1
    assert "  away: turn 1: disconnected: nothing listens at 127.0.0.1:9\n" in refused.stderr


@NEEDS_PROC
@pytest.mark.parametrize("command", ["validate", "run"])
def test_ctrl_c_leaves_nothing_of_the_trials_running(tmp_path: Path, command: str) -> None:
    started = "import time\nprint('up', flush=True)\ntime.sleep(3600)\n"
    make_teams(tmp_path / "teams", {"ann": started, "bob": started}, "bot.py")
    arguments = [*PROGRAM, "championship", command, "teams", "--game", "paint"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            wait_until(lambda: any(is_bot(pid) for pid in descendants(process.pid)))
            below = descendants(process.pid)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate()
        finally:
            process.kill()
    assert (process.returncode, output) == (130, "")
    assert "Traceback" not in errors
    wait_until(lambda: not any(map(is_running, below)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["teams"]


def is_bot(pid: int) -> bool:
    """Return whether a process is the program of a team."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"bot.py\0")
    except OSError:
        return False


@NEEDS_BUBBLEWRAP
def test_clients_play_with_an_id_of_their_own_whatever_the_folder(tmp_path: Path) -> None:
    sources = {"Team 4": seed_clients.QUICK_PYTHON, "zoe": seed_clients.QUICK_PYTHON}
    folder = make_teams(tmp_path / "teams", sources)
    slow = ("--option", "timeout=60")
    tried = cw("validate", folder, *slow)
    assert (tried.exit_code, tried.stdout) == (0, "Team 4 (Team-4): ok\nzoe: ok\n")
    out = tmp_path / "out"
    played = cw("run", folder, "--format", "gauntlet", "--out", out, "--no-validate", *slow)
    assert played.exit_code == 0, played.stderr
    assert "refused" not in played.stderr
    lines = lines_of(out)
    assert {(line["player_1"], line["player_2"]) for line in lines} == {
        ("Team-4", "zoe"),
        ("zoe", "Team-4"),
    }
    assert {line["status_code"] // 100 for line in lines} == {3}


def test_clients_that_pause_are_tried_many_at_a_time() -> None:
    assert lanes_for("paint", "off", None) == cores()
    assert lanes_for("paint", "off", 3) == 3
    # They would share a port.
    assert lanes_for("circuit-wars", "off", None) == lanes_for("circuit-wars", "off", 3) == 1
    if PROBLEM is None:
        assert lanes_for("circuit-wars", "auto", None) == CLIENTS * cores()
        assert lanes_for("circuit-wars", "auto", 3) == 3
