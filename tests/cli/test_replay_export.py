"""`cw replay export`: every form, where it goes, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from PIL.GifImagePlugin import GifImageFile

from cw.cli import main
from cw.replays import document as replays_document
from tests.browser.recorded import MATCHES, recorded


def export(*arguments: str | Path | int) -> Result:
    return CliRunner().invoke(main, ["replay", "export", *map(str, arguments)])


def replay_file(folder: Path, game: str = "paint") -> Path:
    file = folder / "match.json.gz"
    file.write_bytes(replays_document.encode(recorded(game), packed=True))
    return file


@pytest.mark.parametrize(
    ("options", "name", "begins"),
    [
        ((), "match.json", b'{"version"'),
        (("--json",), "match.json", b'{"version"'),
        (("--html",), "match.html", b"<!doctype html>"),
        (("--gif", "--to", 3), "match.gif", b"GIF89a"),
        (("--png",), "match.png", b"\x89PNG"),
        (("--svg",), "match.svg", b"<svg "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_form_is_written_beside_the_replay(
    tmp_path: Path, options: tuple[str | int, ...], name: str, begins: bytes
) -> None:
    file = replay_file(tmp_path)
    done = export(file, *options)
    assert done.exit_code == 0, done.stderr
    data = (tmp_path / name).read_bytes()
    assert data.startswith(begins)
    about = ", 4 frames" if name.endswith(".gif") else ""
    assert done.stdout == f"{tmp_path / name}: {len(data)} bytes{about}\n"


def test_an_animation_says_which_turns_it_leaves_out(tmp_path: Path) -> None:
    done = export(replay_file(tmp_path), "--gif", "--speed", 100)
    assert done.stdout.endswith(" bytes, 21 frames, one for every 2 turns\n")


def test_packed_and_plain_lead_to_each_other(tmp_path: Path) -> None:
    file = replay_file(tmp_path)
    packed = file.read_bytes()
    assert export(file, "--json").exit_code == 0
    file.unlink()
    assert export(tmp_path / "match.json", "--gz").exit_code == 0
    assert file.read_bytes() == packed


def test_the_replay_itself_is_not_overwritten_unasked(tmp_path: Path) -> None:
    file = replay_file(tmp_path)
    done = export(file, "--gz")
    assert done.exit_code == 2
    assert "is the replay itself; choose another file with --out" in done.stderr


def test_the_games_own_format(tmp_path: Path) -> None:
    assert export(replay_file(tmp_path, "code-battle"), "--game").exit_code == 0
    assert "turns" in json.loads((tmp_path / "match.game.json").read_text("utf-8"))


@pytest.mark.parametrize("game", MATCHES)
def test_the_chosen_turn_is_drawn(tmp_path: Path, game: str) -> None:
    file = replay_file(tmp_path, game)
    last = len(recorded(game)["turns"])
    for options, turn in (((), last), (("--turn", 4), 4), (("--turn", -2), last - 1)):
        out = tmp_path / "moment.svg"
        assert export(file, "--svg", *options, "--out", out).exit_code == 0
        root = ElementTree.fromstring(out.read_bytes())
        assert (root.findtext("{*}title") or "").endswith(f", turn {turn} of {last}")


def test_the_chosen_turns_are_played(tmp_path: Path) -> None:
    out = tmp_path / "part.gif"
    done = export(
        replay_file(tmp_path), "--gif", "--from", 5, "--to", -6, "--speed", 20, "--out", out
    )
    assert done.exit_code == 0, done.stderr
    with GifImageFile(out) as image:
        assert image.n_frames == 31
        assert image.info["duration"] == 50


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--png", "--svg"), "choose one format: --png or --svg"),
        (("--svg", "--json"), "choose one format: --svg or --json"),
        (("--gif", "--turn", 3), "--turn is for --png and --svg"),
        (("--turn", 3), "--turn is for --png and --svg"),
        (("--png", "--speed", 3), "--speed is for --gif"),
        (("--html", "--from", 0), "--from is for --gif"),
        (("--svg", "--to", 3), "--to is for --gif"),
        (("--png", "--turn", 41), "the replay has the turns 0 to 40, not 41"),
        (("--gif", "--from", 20, "--to", 10), "turn 20 comes after turn 10"),
        (("--gif", "--speed", 0), "the speed must be 0.1 to 100 turns a second, not 0.0"),
        (("--gif", "--speed", "nan"), "the speed must be 0.1 to 100 turns a second, not nan"),
        (("--game",), "paint"),
        (("--png", "--out", "no/such/folder/a.png"), "cannot be written"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_is_refused_is_said_in_a_line(
    tmp_path: Path, options: tuple[str | int, ...], error: str
) -> None:
    done = export(replay_file(tmp_path), *options)
    assert done.exit_code == 2
    assert error in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["match.json.gz"]


@pytest.mark.parametrize("form", ["--gif", "--png", "--svg"])
def test_a_frame_that_cannot_be_drawn(tmp_path: Path, form: str) -> None:
    document = recorded("paint")
    document = document | {"frame": document["frame"] | {"width": "<b>"}}
    file = tmp_path / "match.json"
    file.write_bytes(replays_document.encode(document, packed=False))
    done = export(file, form)
    assert done.exit_code == 2
    assert "cannot be drawn: Expected `int`, got `str`" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["match.json"]


def drained(place: int) -> bytes:
    """Read a terminal until its last writer is gone."""
    output = b""
    while True:
        try:
            data = os.read(place, 10_000)
        except OSError:
            return output
        if not data:
            return output
        output += data


@pytest.mark.thorough
def test_a_terminal_is_shown_how_far_it_is_and_a_pipe_is_not(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cw", "replay", "export", str(replay_file(tmp_path))]
    command += ["--gif", "--to", "8"]
    quiet = subprocess.run(command, capture_output=True, check=True)
    assert quiet.stderr == b""
    ours, theirs = pytest.importorskip("pty").openpty()
    environment = os.environ | {"TERM": "xterm"}
    output = subprocess.PIPE
    with subprocess.Popen(command, stdout=output, stderr=theirs, env=environment) as run:
        os.close(theirs)
        bar = drained(ours)
        os.close(ours)
    assert run.returncode == 0
    assert b"Painting frames" in bar
