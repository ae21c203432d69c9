"""`cw championship new`, `validate`, `run`, `resume` and `report`: what they say and refuse."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cw.championship.config import settings_of
from cw.championship.teams import read_teams
from cw.kits import new_bot
from cw.replays.document import decode
from tests import patience
from tests.championship.contests import (
    CLIENT,
    FIRST_FREE,
    built_in,
    cw,
    lines_of,
    make_teams,
)
from tests.tools import needs_language

ILLEGAL = CLIENT.replace("return random.choice(board.free_borders())", 'return (0, 0, "up")')
PAINTERS = ("random", "greedy", "walker")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CW_PAUSE", "0")


def keep_two(folder: Path) -> None:
    """Leave the first two teams of a folder."""
    for team in sorted(folder.iterdir())[2:]:
        shutil.rmtree(team)


class TestNew:
    @pytest.mark.thorough
    def test_eight_example_teams_of_circuit_wars_are_made_and_valid(self, tmp_path: Path) -> None:
        folder = tmp_path / "teams"
        scaffold = cw("new", folder)
        assert scaffold.exit_code == 0
        assert f"cw championship run {folder}\n" in scaffold.stdout
        assert len(read_teams(folder, "circuit-wars")) == 8
        assert cw("new", folder).exit_code == 2
        keep_two(folder)
        result = cw("validate", folder, "--json")
        assert result.exit_code == 0, result.output
        assert [json.loads(line)["ok"] for line in result.stdout.splitlines()] == [True, True]

    @pytest.mark.thorough
    @pytest.mark.usefixtures("patient_painters")
    @needs_language("python")
    def test_example_teams_of_another_game_are_made_and_valid(self, tmp_path: Path) -> None:
        folder = tmp_path / "teams"
        scaffold = cw("new", folder, "--game", "paint")
        assert scaffold.exit_code == 0, scaffold.output
        assert f"cw championship run {folder} --game paint\n" in scaffold.stdout
        assert len(read_teams(folder, "paint")) == 8
        keep_two(folder)
        result = cw("validate", folder, "--game", "paint", "--option", "turns=5")
        assert result.exit_code == 0, result.output + result.stderr
        assert result.stdout == "Ada (ada): ok\nAlan (alan): ok\n"

    def test_an_unknown_game_is_refused_before_anything_is_made(self, tmp_path: Path) -> None:
        result = cw("new", tmp_path / "teams", "--game", "chess")
        assert result.exit_code == 2
        assert "there is no game 'chess'" in result.stderr
        assert not (tmp_path / "teams").exists()


class TestValidate:
    def test_a_team_that_fails_is_told_why(self, tmp_path: Path) -> None:
        sources = {"good": FIRST_FREE, "bad": ILLEGAL}
        result = cw("validate", make_teams(tmp_path / "teams", sources))
        assert result.exit_code == 1
        assert "good: ok" in result.stdout
        assert "bad: turn 1: illegal: " in result.stdout
        assert result.stderr.endswith("1 of 2 teams did not pass\n")

    @pytest.mark.thorough
    def test_a_team_has_its_name_and_what_it_wrote_is_one_line(self, tmp_path: Path) -> None:
        sources = {"Lea Müller": "import sys\nsys.exit('one\\nno module numpy')\n"}
        result = cw("validate", make_teams(tmp_path / "teams", sources))
        (line,) = result.stdout.splitlines()
        assert line.startswith("Lea Müller (Lea-Muller): startup: ")
        assert line.endswith("(exit code 1): no module numpy")

    @pytest.mark.thorough
    def test_a_bot_that_cannot_be_asked_is_a_team_that_fails(self, tmp_path: Path) -> None:
        file = built_in(tmp_path / "teams.toml", ("random", "nothing"))
        result = cw("validate", file, "--game", "paint", "--option", "turns=5")
        assert result.exit_code == 1
        assert "nothing: paint has no strategy 'nothing'" in result.stdout
        assert "random: ok" in result.stdout

    @pytest.mark.thorough
    def test_every_team_is_listed_whatever_is_wrong_with_others(self, tmp_path: Path) -> None:
        folder = make_teams(tmp_path / "teams", {"ann": FIRST_FREE, "zoe": FIRST_FREE})
        for team, about in (
            ("bare", ""),
            ("broken", "run = 7 7"),
            ("lost", "run = 'no-such-program bot.js'"),
            ("quote", "run = 'python \"bot.py'"),
            ("strange", "hat = 1"),
        ):
            (folder / team).mkdir()
            (folder / team / "team.toml").write_text(about)
        result = cw("validate", folder, "--json")
        assert result.exit_code == 1
        problems = {
            line["team"]: line["problem"]
            for line in map(json.loads, result.stdout.split("\n")[:-1])
        }
        assert list(problems) == ["ann", "bare", "broken", "lost", "quote", "strange", "zoe"]
        assert (problems["ann"], problems["zoe"]) == (None, None)
        assert "has no program" in problems["bare"]
        assert "team.toml: " in problems["broken"]
        assert "there is no program 'no-such-program'" in problems["lost"]
        assert "No closing quotation" in problems["quote"]
        assert "unknown key 'hat'" in problems["strange"]
        refused = cw("run", folder, "--out", tmp_path / "out")
        assert refused.exit_code == 1
        assert "has no program" in " ".join(refused.stderr.split())

    @pytest.mark.thorough
    def test_a_team_is_told_and_not_obeyed(self, tmp_path: Path) -> None:
        folder = make_teams(tmp_path / "teams", {"ann": FIRST_FREE})
        shout = 'import sys\nsys.exit("\\x1b[2J\\x1b]0;won\\x07")\n'
        make_teams(folder, {"eve": shout})
        (folder / "ivy").mkdir()
        (folder / "ivy" / "team.toml").write_text('run = "\\u001b[2J \\u001b]0;won\\u0007"')
        result = cw("validate", folder)
        assert result.exit_code == 1
        assert "\x1b" not in result.output
        assert result.stdout.count("\\x1b[2J") == 2


class TestRun:
    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            (["--game", "chess"], "there is no game 'chess'; there are: circuit-wars"),
            (["--game", "paint", "--openings", "2"], "paint: unknown option 'openings'"),
            (["--game", "paint", "--size", "7"], "paint: unknown option 'size'"),
            (["--game", "paint", "--option", "turns=0"], "paint: "),
            (["--game", "paint", "--players", "4"], "only the format 'free-for-all' takes"),
            (["--option", "boards=3"], "circuit-wars: unknown option 'boards'"),
            (["--format", "free-for-all"], "this game is for 2 players"),
            (["--game", "paint", "--format", "free-for-all", "--players", "4"], "of 3 to 3"),
            (["--format", "swiss", "--groups", "2"], "only the format 'championship' takes"),
        ],
    )
    def test_what_cannot_be_is_refused_and_nothing_is_begun(
        self, tmp_path: Path, arguments: list[str], error: str
    ) -> None:
        out = tmp_path / "out"
        file = built_in(tmp_path / "teams.toml", PAINTERS)
        result = cw("run", file, "--out", out, *arguments)
        assert result.exit_code == 2
        assert error in " ".join(result.stderr.split())
        assert not out.exists()

    @pytest.mark.thorough
    def test_circuit_wars_is_played_as_usual_if_nothing_is_said(self, tmp_path: Path) -> None:
        file = built_in(tmp_path / "teams.toml", ("random", "greedy"))
        out = tmp_path / "out"
        assert cw("run", file, "--out", out, "--openings", 60, "--size", 3).exit_code == 0
        assert settings_of(out).options == {"size": 3, "timeout": 3.0, "openings": 9}

    def test_it_is_begun_once_resumed_and_told_again(self, tmp_path: Path) -> None:
        file = built_in(tmp_path / "teams.toml", PAINTERS)
        out = tmp_path / "out"
        arguments = ("run", file, "--game", "paint", "--option", "turns=5", "--out", out)
        first = cw(*arguments)
        assert first.exit_code == 0, first.output + first.stderr
        lines = lines_of(out)
        again = cw(*arguments)
        assert again.exit_code == 2
        assert "contains a championship already" in again.stderr
        assert cw(*arguments, "--resume").exit_code == 0
        assert cw(*arguments, "--resume", "--seed", "2").exit_code == 2
        assert cw("resume", out).exit_code == 0
        assert lines_of(out) == lines
        report = (out / "report" / "report.json").read_bytes()
        (out / "report" / "report.json").unlink()
        assert cw("report", out).exit_code == 0
        assert (out / "report" / "report.json").read_bytes() == report

    @pytest.mark.thorough
    def test_other_teams_than_those_it_began_with_are_refused(self, tmp_path: Path) -> None:
        file = built_in(tmp_path / "teams.toml", PAINTERS)
        out = tmp_path / "out"
        assert (
            cw("run", file, "--game", "paint", "--option", "turns=5", "--out", out).exit_code == 0
        )
        built_in(file, PAINTERS[:2])
        resumed = cw("resume", out)
        assert resumed.exit_code == 2
        assert "differ from those the championship began with" in resumed.stderr

    def test_a_machine_that_fails_is_told_in_a_sentence(self, tmp_path: Path) -> None:
        file = built_in(tmp_path / "teams.toml", PAINTERS)
        for out in (file / "out", tmp_path / "out"):
            (tmp_path / "out").mkdir(exist_ok=True)
            (tmp_path / "out" / "games").touch()
            result = cw("run", file, "--game", "paint", "--option", "turns=5", "--out", out)
            assert result.exit_code == 1
            assert "cannot be created" in result.stderr
            assert "Traceback" not in result.output + result.stderr

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ("{", "contains no championship"),
            ('{"teams": 1, "place": ""}', "the settings are broken"),
        ],
    )
    def test_broken_settings_are_told(self, tmp_path: Path, text: str, error: str) -> None:
        (tmp_path / "championship.json").write_text(text)
        result = cw("resume", tmp_path)
        assert result.exit_code == 2
        assert error in " ".join(result.stderr.split())


class TestNames:
    """Teams as they call themselves, and teams that cannot play."""

    @pytest.fixture
    def teams(self, tmp_path: Path) -> Path:
        folder = tmp_path / "teams"
        for name, strategy in (("Lea Müller", "greedy"), ("ada", "walker"), ("bob", "random")):
            (folder / name).mkdir(parents=True)
            about = f'bot = "builtin:{strategy}"\n'
            about += 'name = "Die Lötkolben"\nmembers = ["Jörg", "Ana"]' if name == "ada" else ""
            (folder / name / "team.toml").write_text(about, encoding="utf-8")
        return folder

    @pytest.mark.thorough
    def test_names_and_members_are_in_terminal_report_replays_and_tables(
        self, tmp_path: Path, teams: Path
    ) -> None:
        out = tmp_path / "out"
        arguments = ("--game", "paint", "--option", "turns=5", "--groups", "1", "--out", out)
        ended = cw("run", teams, *arguments)
        assert ended.exit_code == 0, ended.output + ended.stderr
        headline, _, heading, *rows = ended.stdout.splitlines()
        assert headline.endswith(" is the champion.")
        assert heading.split()[:5] == ["team", "members", "came", "to", "won"]
        assert [row.split(".")[0].strip() for row in rows[:3]] == ["1", "2", "3"]
        assert "champion" in rows[0]
        assert "place 3 of group A" in rows[2]
        assert any("Die Lötkolben  Jörg, Ana" in row for row in rows[:3])
        html = (out / "report" / "index.html").read_text(encoding="utf-8")
        assert "Lea-Muller</th>" not in html
        assert "Lea Müller</th>" in html
        assert "Jörg, Ana" in html
        named = {
            player["name"]
            for file in (out / "games").glob("*.gz")
            for player in decode(file.read_bytes())["players"]
        }
        assert named == {"Lea Müller", "Die Lötkolben", "bob"}
        ranking = (out / "report" / "ranking.csv").read_bytes().decode("utf-8-sig")
        assert '"Jörg, Ana"' in ranking
        assert cw("resume", out).stdout == ended.stdout

    @pytest.mark.thorough
    def test_every_team_that_cannot_play_is_told_and_left_out_if_wanted(
        self, tmp_path: Path, teams: Path
    ) -> None:
        (teams / "empty").mkdir()
        (teams / "odd").mkdir()
        (teams / "odd" / "team.toml").write_text("hat = 1")
        out = tmp_path / "out"
        arguments = ("run", teams, "--game", "paint", "--option", "turns=5", "--out", out)
        refused = cw(*arguments)
        assert refused.exit_code == 1
        assert "2 of 5 teams cannot play; fix them, or leave them out with" in refused.stderr
        output = " ".join(refused.stderr.split())
        assert "empty has no program" in output
        assert "unknown key 'hat'" in output
        played = cw(*arguments, "--skip-broken")
        assert played.exit_code == 0, played.output + played.stderr
        assert "Left out: empty: " in played.stderr
        assert "Left out: odd: " in played.stderr
        assert set(settings_of(out).left_out) == {"empty", "odd"}
        assert "odd: left out: " in (out / "report" / "index.html").read_text(encoding="utf-8")
        assert cw("resume", out).exit_code == 0
        (teams / "late").mkdir()
        assert "differ from those the championship began with" in cw("resume", out).stderr


class TestSandbox:
    """What is said where bubblewrap is missing, by commands in a process of their own."""

    @pytest.fixture
    def teams(self, tmp_path: Path) -> Path:
        return make_teams(tmp_path / "teams", {"one": FIRST_FREE, "two": FIRST_FREE})

    def without_bubblewrap(
        self, tmp_path: Path, *command: object
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*patience.PROGRAM, *map(str, command)],
            cwd=tmp_path,
            env=os.environ | {"PATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    @pytest.mark.parametrize(
        "command",
        [
            ("championship", "run", "teams"),
            *(
                pytest.param(command, marks=pytest.mark.thorough)
                for command in (
                    ("championship", "validate", "teams"),
                    ("serve", "--port", "0", "--opponent", "paint", "me=teams/one/game_ai.py"),
                    ("check", "circuit-wars", "teams/one/game_ai.py"),
                    ("play", "circuit-wars", "teams/one/game_ai.py", "builtin:random"),
                )
            ),
        ],
    )
    def test_none_is_started_if_it_must_be_there(
        self, tmp_path: Path, teams: Path, command: tuple[str, ...]
    ) -> None:
        result = self.without_bubblewrap(tmp_path, *command, "--sandbox", "require")
        assert result.returncode == 2
        assert "no bot is started without a sandbox" in result.stderr
        assert "Traceback" not in result.stderr

    @pytest.mark.thorough
    def test_it_is_said_each_time(self, tmp_path: Path, teams: Path) -> None:
        result = self.without_bubblewrap(tmp_path, "championship", "validate", teams)
        assert (result.returncode, result.stdout) == (0, "one: ok\ntwo: ok\n")
        assert "LIMITS ONLY" in result.stderr
        # Nothing but the first move of one is played: no tie has to be broken.
        (teams / "two" / "game_ai.py").write_text(ILLEGAL, encoding="utf-8")
        played = ["championship", "run", "teams", "--no-validate", "--size", "3", "--out", "out"]
        played += ["--format", "double-round-robin", "--openings", "0"]
        first = self.without_bubblewrap(tmp_path, *played)
        assert first.returncode == 0, first.stderr
        again = self.without_bubblewrap(tmp_path, "championship", "resume", "out")
        for result in (first, again):
            assert "LIMITS ONLY: one match at a time on port 5000" in " ".join(
                result.stderr.split()
            )

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        "command",
        [
            ("play", "paint", "bot.py", "builtin:random", "--option", "turns=1", "--no-replay"),
            ("check", "paint", "bot.py"),
        ],
    )
    def test_it_is_said_of_a_single_bot(self, tmp_path: Path, command: tuple[str, ...]) -> None:
        (tmp_path / "bot.py").write_text("")
        for choice in ("auto", "off"):
            result = self.without_bubblewrap(tmp_path, *command, "--sandbox", choice)
            assert result.returncode == 1
            assert "LIMITS ONLY, it can read your files" in " ".join(result.stderr.split())

    @pytest.mark.thorough
    def test_it_is_said_once_of_a_bot_that_is_started_again_and_again(self, tmp_path: Path) -> None:
        new_bot("paint", "python", tmp_path / "mine")
        result = self.without_bubblewrap(tmp_path, "check", "paint", "mine/bot.py")
        assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "all fine")
        assert result.stderr.count("LIMITS ONLY") == 1

    @pytest.mark.thorough
    def test_a_server_says_it_at_its_start(self, tmp_path: Path) -> None:
        (tmp_path / "bot.py").write_text("")
        command = [sys.executable, "-m", "cw", "serve", "--port", "0"]
        command += ["--opponent", "paint", "me=bot.py"]
        with subprocess.Popen(
            command,
            cwd=tmp_path,
            env=os.environ | {"PATH": str(tmp_path)},
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stderr is not None
            assert "LIMITS ONLY: bots can read your files" in server.stderr.readline()
            server.terminate()


LIMITED = """
import resource, runpy, sys
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), hard))
runpy.run_module("cw", run_name="__main__")
"""
"""Runs a command whose files may have so many bytes: more of one cannot be written."""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
@pytest.mark.parametrize("most", [0, 400, 20_000])
def test_what_cannot_be_written_ends_in_a_sentence_and_is_resumed(
    tmp_path: Path, most: int
) -> None:
    file = built_in(tmp_path / "teams.toml", PAINTERS)
    out = tmp_path / "out"
    arguments = ("run", file, "--game", "paint", "--option", "turns=40", "--out", out)
    stopped = subprocess.run(
        [sys.executable, "-c", LIMITED, str(most), "championship", *map(str, arguments)],
        # What is left of a module that was compiled within the limit would fail all later tests.
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert stopped.returncode == 1
    output = " ".join(stopped.stderr.split())
    assert "Traceback" not in output
    assert "File too large" in output
    before = lines_of(out) if (out / "results.jsonl").exists() else []
    if most:
        assert f"continue with: cw championship resume {out}" in output
        assert cw("resume", out).exit_code == 0
    else:
        assert cw(*arguments).exit_code == 0
    assert lines_of(out)[: len(before)] == before
    played = [(one["stage"], one["round"], *one["players"]) for one in lines_of(out)]
    assert len(set(played)) == len(played) >= 6
