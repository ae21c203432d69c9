"""The commands as processes: what they print, how they exit, what they leave behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import pytest
import requests
from click.testing import CliRunner, Result

from cw.cli import COMMANDS, demo, main
from cw.cli.groups import LONGEST_SENTENCE, LazyGroup
from cw.cli.serve import read_opponents
from cw.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals of this kind are not on Windows")


def run(*arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, arguments)


def cw(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cw", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=cwd,
    )


OURS = [name for name, place in COMMANDS.items() if place.where is not None]


def is_explained(*command: str) -> None:
    """Check the help of a command."""
    done = run(*command, "--help")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) > 5
    assert max(map(len, done.stdout.splitlines())) <= 80
    options = [line for line in done.stdout.splitlines() if line.startswith("  --")]
    assert all(re.search(r"--\S+.*\s{2,}\S|--\S+ [A-Z]+$", line) for line in options), options


def listed(group: LazyGroup) -> Iterator[tuple[str, str, click.Command]]:
    """Yield the commands in a group and its groups, each with what the list says of it.

    Those of other packages are not loaded.
    """
    context = click.Context(group)
    for name, sentence in group.sentences(context):
        if name in group.places and group.places[name].where is not None:
            command = group.get_command(context, name)
            assert command is not None
            yield name, sentence, command
            if isinstance(command, LazyGroup):
                yield from listed(command)


def says_otherwise(commands: Iterable[tuple[str, str, click.Command]]) -> list[str]:
    """Return the commands whose own help says something else than the list."""
    return [
        name
        for name, sentence, command in commands
        if sentence != command.get_short_help_str(LONGEST_SENTENCE)
    ]


class TestHelp:
    def test_it_names_every_command(self) -> None:
        done = cw("--help")
        assert done.returncode == 0
        assert all(re.search(rf"^  {name}\b", done.stdout, re.M) for name in COMMANDS)

    @pytest.mark.parametrize("name", OURS)
    def test_every_command_and_option_is_explained(self, name: str) -> None:
        is_explained(name)

    def test_a_list_of_commands_says_what_their_own_help_says(self) -> None:
        assert isinstance(main, LazyGroup)
        commands = list(listed(main))
        assert len(commands) > 30
        assert says_otherwise(commands) == []

    @pytest.mark.parametrize("group", [(), ("bots",), ("replay",), ("maps", "code-battle")])
    @pytest.mark.parametrize("columns", [60, 80])
    def test_lists_of_commands_hold_whole_sentences(
        self, group: tuple[str, ...], columns: int
    ) -> None:
        runner = CliRunner(env={"COLUMNS": str(columns)})
        help_text = runner.invoke(main, [*group, "--help"], terminal_width=columns).stdout
        lines = help_text.partition("Commands:\n")[2].splitlines()
        assert lines
        assert max(map(len, lines)) <= columns
        assert "..." not in "".join(lines)
        if columns == 80:
            assert all(re.fullmatch(r"  [a-z-]+ +[A-Z].*\.", line) for line in lines), lines

    def test_an_unknown_command_is_wrong_usage(self) -> None:
        assert run("dance").exit_code == 2


class TestServe:
    def start(self, *command: str, cwd: Path = ROOT) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, text=True, cwd=cwd
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        return process, line.removeprefix("Monitor: ").strip().rstrip("/")

    @POSIX
    @pytest.mark.parametrize(
        "command", [("-m", "cw", "serve"), (str(ROOT / "cw" / "game_server.py"),)]
    )
    def test_it_serves_from_any_folder_until_ctrl_c(
        self, command: tuple[str, ...], tmp_path: Path
    ) -> None:
        process, base = self.start(*command, "--port", "0", "--timeout", "700", cwd=tmp_path)
        with process:
            try:
                requests.get(f"{base}/reg/a", timeout=60)
                requests.get(f"{base}/reg/b", timeout=60)
                status = requests.get(f"{base}/status", timeout=60).json()
                assert 600_000 < status["time_left"] <= 700_000
            finally:
                process.send_signal(signal.SIGINT)
            assert process.wait(300) == 0

    @POSIX
    @pytest.mark.parametrize(
        ("more", "replays"),
        [((), 1), pytest.param(("--no-replays",), 0, marks=pytest.mark.thorough)],
    )
    def test_matches_that_are_over_are_kept_beside_it(
        self, tmp_path: Path, more: tuple[str, ...], replays: int
    ) -> None:
        command = ("-m", "cw", "serve", "--port", "0", *more)
        process, base = self.start(*command, cwd=tmp_path)
        with process:
            try:
                for path in ("reg/a", "reg/b", "move/a/9,9,top"):
                    requests.get(f"{base}/{path}", timeout=60)
                files = list((tmp_path / "replays").glob("*.json.gz"))
                assert len(files) == replays
                page = requests.get(f"{base}/replays/", timeout=60).text
                assert all(file.name.removesuffix(".json.gz") in page for file in files)
            finally:
                process.terminate()

    def test_a_folder_that_is_chosen_and_not_wanted_is_refused(self, tmp_path: Path) -> None:
        done = run("serve", "--port", "0", "--replays", str(tmp_path), "--no-replays")
        assert done.exit_code == 2
        assert "choose either --replays or --no-replays" in done.stderr

    @POSIX
    def test_it_says_what_other_machines_type(self, tmp_path: Path) -> None:
        command = ("-m", "cw", "serve", "--host", "0.0.0.0", "--port", "0")
        process, base = self.start(*command, cwd=tmp_path)
        with process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(3)]
            process.terminate()
            lines += process.stdout.readlines()
        port = base.rpartition(":")[2]
        others = [line.split()[-1] for line in lines if line.startswith("On other machines: ")]
        assert all(re.fullmatch(rf"http://\d+\.\d+\.\d+\.\d+:{port}/", one) for one in others)
        assert not [one for one in others if "//127." in one]

    def test_a_busy_port_is_said_with_what_to_do(self) -> None:
        with socket.socket() as busy:
            busy.bind(("127.0.0.1", 0))
            busy.listen()
            done = run("serve", "--port", str(busy.getsockname()[1]))
        assert done.exit_code == 2
        assert "choose another with --port" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            (("--size", "4"), "size must be an odd number from 1 to 31, not 4"),
            (("--timeout", "0"), "the time limit must be a number of seconds above 0"),
            (("--host", "no.such.host.invalid"), "cannot listen on 'no.such.host.invalid'"),
            (("--port", "99999"), "99999"),
        ],
    )
    def test_wrong_settings_are_wrong_usage(self, arguments: tuple[str, ...], error: str) -> None:
        done = run("serve", "--port", "0", *arguments)
        assert done.exit_code == 2
        assert error in done.stderr


class TestDemo:
    def test_it_plays_a_whole_match_and_leaves_nothing_running(self) -> None:
        done = cw("demo", "--fast", "--port", "0")
        assert done.returncode == 0, done.stderr
        address, result, *then = done.stdout.splitlines()
        assert "  python game_ai.py alice --against greedy" in "\n".join(then)
        base = address.removeprefix("Watch the match in the browser: ")
        match = re.fullmatch(
            r"(?:alice|bob) won by score in turn \d+: (\d+) to (\d+) squares\.", result
        )
        assert match
        assert int(match[1]) + int(match[2]) == 49
        assert int(match[1]) > int(match[2])
        with pytest.raises(requests.ConnectionError):
            requests.get(base, timeout=60)

    @pytest.mark.parametrize("code", [0, 3])
    def test_a_client_that_exits_early_ends_it(
        self, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client = tmp_path / "client.py"
        client.write_text(f"print('Off I go.'); raise SystemExit({code})", encoding="utf-8")
        monkeypatch.setattr(demo, "asset", lambda _: client)
        done = run("demo", "--port", "0")
        assert done.exit_code == 1
        assert f"has ended with exit code {code}.\nOff I go." in done.stderr

    @pytest.mark.thorough
    def test_a_busy_port_is_replaced_by_a_free_one(self) -> None:
        with socket.socket() as busy:
            busy.bind(("127.0.0.1", 0))
            busy.listen()
            done = cw("demo", "--fast", "--port", str(busy.getsockname()[1]))
        assert done.returncode == 0
        assert "Taking a free port instead" in done.stderr

    @pytest.mark.thorough
    @POSIX
    def test_ctrl_c_ends_server_and_clients(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "cw", "demo", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        with process:
            assert process.stdout is not None
            base = process.stdout.readline().split()[-1]
            while requests.get(f"{base}status", timeout=60).json()["status_code"] < 200:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            assert process.wait(300) == 130
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)


class TestBots:
    def test_the_list(self) -> None:
        done = run("bots", "circuit-wars")
        assert done.exit_code == 0
        for name in ("random", "mirror", "greedy", "safe", "search", "expert"):
            assert f"builtin:{name}" in done.stdout
        listed = json.loads(run("bots", "--json").stdout)
        assert all(words for words in listed["circuit-wars"].values())

    def test_an_unknown_game(self) -> None:
        assert run("bots", "go").exit_code == 2


class TestDoctor:
    def test_it_finds_what_is_needed(self) -> None:
        done = run("doctor", "--json")
        assert done.exit_code == 0
        findings = {finding["name"]: finding for finding in json.loads(done.stdout)}
        assert findings["flask"]["ok"]
        assert findings["static"]["ok"]
        assert "Circuit Wars" in run("doctor").stdout


class TestOpponents:
    def test_they_are_read_by_game(self) -> None:
        named = [("hexagon", "one=builtin:greedy"), ("paint", "two=exec:./bot")]
        opponents, secrets = read_opponents(
            [*named, ("hexagon", "http://127.0.0.1:3000")], ["one.form=lines", "one.secret=abc"]
        )
        assert {game: [bot.name for bot in bots] for game, bots in opponents.items()} == {
            "hexagon": ["one", "127.0.0.1:3000"],
            "paint": ["two"],
        }
        assert opponents["hexagon"][0].settings == {"form": "lines"}
        assert secrets["one"] == {"secret": "abc"}

    @pytest.mark.parametrize(
        ("named", "settings", "message"),
        [
            ([("chess", "builtin:greedy")], [], "there is no game 'chess'"),
            ([("paint", "./none.py")], [], "there is no file"),
            ([("paint", "a=exec:x"), ("hexagon", "a=exec:x")], [], "two bots are named a"),
            ([("paint", "a=exec:x")], ["b.form=lines"], "--set takes"),
        ],
        ids=["game", "file", "name", "setting"],
    )
    def test_what_means_nothing_is_refused(
        self, named: list[tuple[str, str]], settings: list[str], message: str
    ) -> None:
        with pytest.raises(UsageError, match=message):
            read_opponents(named, settings)
