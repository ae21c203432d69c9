"""What a bot wrote to its standard error, from the match to the page of its owner."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner

from cw.cli import main
from tests.matches.bots_of_games import PAINT, SOURCES, write

SERVE = ("serve", "--port", "0", "--replays", "{folder}")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play a match with a bot that puts something out, and return its replay."""
    folder = tmp_path_factory.mktemp("replays")
    noisy = PAINT.replace("for line", "print('hello', file=sys.stderr, flush=True)\nfor line")
    bot = write(tmp_path_factory.mktemp("bot"), noisy)
    out = folder / "match.json.gz"
    arguments = ["play", "paint", "builtin:greedy", f"own={bot}", "--option", "turns=5"]
    result = CliRunner().invoke(main, [*arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    return out


def test_it_lies_beside_the_replay_and_not_in_it(played: Path) -> None:
    assert (played.parent / "match.2.stderr").read_text(encoding="utf-8") == "hello\n"
    assert not (played.parent / "match.1.stderr").exists()
    result = CliRunner().invoke(
        main, ["replay", "export", str(played), "--json", "--out", str(played.parent / "x.txt")]
    )
    assert result.exit_code == 0, result.output
    assert "hello" not in (played.parent / "x.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("game", "place", "option"),
    [
        ("circuit-wars", "    turn += 1", "size=1"),
        ("hexagon", "        turn = TURNS[self.game()]", "size=2"),
    ],
)
def test_a_client_and_a_web_service_may_print_to_standard_output(
    game: str, place: str, option: str, tmp_path: Path
) -> None:
    printing = place[: -len(place.lstrip())] + "print('hello')\n" + place
    bot = write(tmp_path, SOURCES[game], (place, printing))
    out = tmp_path / "match.json.gz"
    arguments = ["play", game, f"own={bot}", "builtin:random", "--option", option]
    result = CliRunner().invoke(main, [*arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "hello\n" in (tmp_path / "match.1.stderr").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("replay", "open", "{file}", "--no-browser"), 200),
        ((*SERVE, "--host", "0.0.0.0"), 404),
        *(
            pytest.param((*SERVE, *options), code, marks=pytest.mark.thorough)
            for options, code in (
                ((), 200),
                (("--uploads",), 404),
                (("--name", "arena.example"), 404),
            )
        ),
    ],
)
def test_its_owner_reads_it_on_this_machine(
    played: Path, command: tuple[str, ...], code: int
) -> None:
    command_line = [part.format(file=played, folder=played.parent) for part in command]
    with subprocess.Popen(
        [sys.executable, "-m", "cw", *command_line],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            match = re.search(r"http://[^/]+:(\d+)/", server.stdout.readline())
            assert match
            page = f"http://127.0.0.1:{match[1]}/replays/match/output"
            answer = requests.get(page, timeout=60)
            assert answer.status_code == code
            assert ("hello" in answer.text) == (code == 200)
        finally:
            server.terminate()
