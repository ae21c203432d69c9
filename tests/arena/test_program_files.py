"""The files that a program of a bot is given: a copy of its folder, and its installation."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from cw.arena.sandbox import (
    Launch,
    Policy,
    Sandbox,
    Source,
)
from cw.arena.sandbox.bubblewrap import installation, installations, passed_through
from cw.arena.sandbox.folders import JUNCTION, contents, is_folder, is_junction
from cw.arena.sandbox.set_limits import MIB
from cw.errors import UnfitProgram, UsageError
from tests.arena.attacking import BOTH
from tests.arena.zoo import BOTS, PATIENCE, wait_until

FOLDER = BOTS / "sandboxed"
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs a shell of POSIX")


def run(launch: Launch) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        launch.argv,
        env=dict(launch.env),
        cwd=launch.cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def names_in(folder: Path) -> list[str]:
    """Return the names of what a bot is given of a folder."""
    with contents(folder) as files:
        return [entry.name for entry in files.entries]


@BOTH
def test_a_bot_works_in_a_copy_of_its_folder(policy: Policy, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("open('trace', 'w').close(); print(open('data').read())")
    (tmp_path / "data").write_text("my data")
    command = [sys.executable, str(tmp_path / "bot.py")]
    with Sandbox(policy).prepare(command, Source(tmp_path)) as launch:
        done = run(launch)
        assert (done.stdout, done.stderr) == ("my data\n", "")
    wait_until(lambda: not launch.cwd.exists())
    assert not (tmp_path / "trace").exists()


@POSIX
@BOTH
def test_a_program_of_the_folder_can_be_started(policy: Policy, tmp_path: Path) -> None:
    (tmp_path / "bot").write_text("#!/bin/sh\necho here: $1\n")
    (tmp_path / "bot").chmod(0o755)
    for name in ("./bot", "bot", str(tmp_path / "bot")):
        with Sandbox(policy).prepare([name, "x"], Source(tmp_path)) as launch:
            assert run(launch).stdout == "here: x\n"


@pytest.mark.parametrize("command", [["no-such-program-anywhere"], ["./missing"]])
def test_a_program_that_is_not_there_is_refused(command: Sequence[str], tmp_path: Path) -> None:
    refused = pytest.raises(UsageError, match="there is no program")
    with refused, Sandbox("off").prepare(command, Source(tmp_path)):
        pass


def test_a_folder_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "film").open("wb") as film:
        film.truncate(300 * MIB)
    with pytest.raises(UnfitProgram, match="give the bot a folder of its own"):
        names_in(tmp_path)


def test_a_folder_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    tmp_path.joinpath(*["d"] * 100).mkdir(parents=True)
    with pytest.raises(UnfitProgram, match="more than 64 nested folders"):
        names_in(tmp_path)


@POSIX
def test_links_stay_links_and_pipes_stay_away(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    target.mkdir()
    (source / "link").symlink_to("/etc/passwd")
    os.mkfifo(source / "pipe")
    with contents(source) as files:
        files.copy(target)
    assert [path.name for path in target.iterdir()] == ["link"]
    assert (target / "link").is_symlink()


def test_a_junction_is_neither_copied_nor_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind those of Windows there is a folder of somebody else's."""
    (tmp_path / "own").mkdir()
    (tmp_path / "junction").mkdir()
    (tmp_path / "junction" / "secret").touch()
    number = (tmp_path / "junction").stat().st_ino

    def behaves_as_on_windows(status: os.stat_result) -> bool:
        tag = JUNCTION if status.st_ino == number else 0
        return is_junction(cast("os.stat_result", SimpleNamespace(st_reparse_tag=tag)))

    monkeypatch.setattr("cw.arena.sandbox.folders.is_junction", behaves_as_on_windows)
    monkeypatch.setattr("cw.arena.sandbox.folders.is_junction", behaves_as_on_windows)
    assert names_in(tmp_path) == ["own"]
    with os.scandir(tmp_path) as entries:
        assert [entry.name for entry in entries if is_folder(entry)] == ["own"]


def test_hidden_files_and_virtual_environments_stay_away(tmp_path: Path) -> None:
    for name in ("bot.py", "data/.key", ".ssh/id", "venv/pyvenv.cfg", "data/book"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(names_in(tmp_path)) == ["bot.py", "data", "data/book"]


@POSIX
@pytest.mark.parametrize("way", ["file", "folder"])
def test_what_becomes_a_link_after_it_was_found_is_not_copied(tmp_path: Path, way: str) -> None:
    folder, secret = tmp_path / "bot", tmp_path / "elsewhere" / "data"
    for place in (folder / "sub", secret.parent, tmp_path / "copy"):
        place.mkdir(parents=True)
    (folder / "sub" / "data").write_text("mine")
    secret.write_text("secret")
    with contents(folder) as files:
        if way == "file":
            (folder / "sub" / "data").unlink()
            (folder / "sub" / "data").symlink_to(secret)
        else:
            (folder / "sub").rename(folder / "before")
            (folder / "sub").symlink_to(secret.parent)
        with pytest.raises(UnfitProgram, match="cannot be copied"):
            files.copy(tmp_path / "copy")
        with pytest.raises(UnfitProgram, match="cannot be copied"):
            files.pack(tmp_path / "tar")
    assert b"secret" not in (tmp_path / "tar").read_bytes()
    assert not (tmp_path / "copy" / "sub" / "data").exists()


@POSIX
@BOTH
@pytest.mark.parametrize("program", [".hidden/tool", "venv/bin/python", ".link"])
def test_others_are_shown_no_program_where_it_is(
    policy: Policy, program: str, tmp_path: Path
) -> None:
    """What is installed beside a program is shown with it: a link could lead to anybody's."""
    tool, folder = tmp_path / "tools" / "bin" / "tool", tmp_path / "bot"
    for place in (tool.parent, tmp_path / "tools" / "lib", (folder / program).parent):
        place.mkdir(parents=True, exist_ok=True)
    tool.write_text("#!/bin/sh\ntrue\n")
    tool.chmod(0o755)
    (folder / "venv").mkdir(exist_ok=True)
    (folder / "venv" / "pyvenv.cfg").touch()
    (folder / program).symlink_to(tool)
    source = Source(folder, of_others=True)
    refused = pytest.raises(UnfitProgram, match="the bot cannot see")
    with refused, Sandbox(policy).prepare([program], source):
        pass


@POSIX
def test_the_installation_of_a_program_is_found(tmp_path: Path) -> None:
    real, environment = tmp_path / "python-3", tmp_path / "venv"
    for folder in (real, environment):
        (folder / "bin").mkdir(parents=True)
        (folder / "lib").mkdir()
    (real / "bin" / "python3").touch()
    (environment / "bin" / "python").symlink_to("../../python-3/bin/python3")
    (tmp_path / "tool").touch()
    assert list(installation(environment / "bin" / "python")) == [environment, real]
    assert list(installation(tmp_path / "tool")) == [tmp_path / "tool"]
    assert list(installation(Path("/usr/bin/env"))) == []


@POSIX
def test_the_links_to_an_installation_are_found(tmp_path: Path) -> None:
    real = tmp_path / "envs" / "one"
    (real / "bin").mkdir(parents=True)
    (real / "lib").mkdir()
    (real / "bin" / "python").symlink_to("/usr/bin/env")
    (tmp_path / ".venv").symlink_to("envs/one")
    assert installations([tmp_path / ".venv/bin/python"]) == (tmp_path / ".venv", real)
    (tmp_path / "loop").symlink_to("loop")
    assert len(installations([tmp_path / "loop"])) == 1


@BOTH
def test_a_virtual_environment_that_is_a_link_runs_a_bot(policy: Policy, tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "elsewhere")], check=True
    )
    (folder / ".venv").symlink_to(tmp_path / "elsewhere")
    (folder / "bot.py").write_text("import sys; print(sys.prefix)")
    command = [str(folder / ".venv/bin/python"), str(folder / "bot.py")]
    with Sandbox(policy).prepare(command, Source(folder)) as launch:
        done = run(launch)
    assert (done.stderr, done.stdout.strip()) == ("", str(folder / ".venv"))


@BOTH
@pytest.mark.parametrize("way", ["command", "link"])
def test_an_interpreter_behind_a_path_with_dots_runs_a_bot(
    policy: Policy, way: str, tmp_path: Path
) -> None:
    environment, bot = tmp_path / "one" / "venv", tmp_path / "bot" / "bot.py"
    for folder in (bot.parent, tmp_path / "two" / "inner"):
        folder.mkdir(parents=True)
    make = [sys.executable, "-m", "venv", "--without-pip", str(environment)]
    subprocess.run(make, check=True)
    bot.write_text("import sys; print(sys.version_info.major)")
    dotted = tmp_path / "two" / "inner" / ".." / ".." / "one" / "venv" / "bin" / "python"
    if way == "link":
        (tmp_path / "python").symlink_to(dotted)
    program = dotted if way == "command" else tmp_path / "python"
    with Sandbox(policy).prepare([str(program), str(bot)], Source(bot.parent)) as launch:
        done = run(launch)
    assert (done.stderr, done.stdout.strip()) == ("", "3")


@POSIX
def test_folders_that_are_left_again_are_named_and_shown_empty(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    program = tmp_path / "link" / ".." / "tool"
    assert passed_through([program, Path("/usr/lib/../bin/env")]) == (tmp_path / "real",)
    assert set(installation(program)) == {tmp_path / "link", tmp_path / "tool"}


@pytest.mark.parametrize("text", ["short", "much longer than before"])
def test_a_file_that_was_replaced_meanwhile_is_packed_as_it_is(tmp_path: Path, text: str) -> None:
    folder, archive = tmp_path / "bot", tmp_path / "bot.tar"
    folder.mkdir()
    file = folder / "match-2.json"
    file.write_text("as it was")
    with contents(folder) as files:
        file.write_text(text)
        files.pack(archive)
    with tarfile.open(archive) as packed:
        (member,) = packed.getmembers()
        extracted = packed.extractfile(member)
        assert extracted is not None
        assert extracted.read().decode() == text
