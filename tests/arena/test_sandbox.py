"""What a program of a bot can reach and take, with bubblewrap and without."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cw.arena.launch import start
from cw.arena.processes import marked
from cw.arena.sandbox import PLAIN, Launch, Policy, ProgramNeeds, Sandbox, Source, bubblewrap
from cw.arena.sandbox.cgroups import places
from cw.arena.sandbox.set_limits import MIB, ResourceLimits, by_shell, own_tasks
from cw.arena.transports.http import HttpBot
from cw.arena.transports.stdio import StdioBot
from cw.errors import UsageError
from cw.games.wire import QueryLimits, Reply, Request
from tests.arena.attacking import BOTH
from tests.arena.zoo import BOTS, PATIENCE, commands_with, fault_of, line_of, wait_until
from tests.ports import free_port
from tests.tools import NEEDS_BUBBLEWRAP, PRLIMIT

FOLDER = BOTS / "sandboxed"
NEEDS_PRLIMIT = PRLIMIT.unless(shutil.which("prlimit"))
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs a shell of POSIX")
LIMITED = pytest.mark.parametrize(
    "policy",
    [pytest.param("require", marks=NEEDS_BUBBLEWRAP), pytest.param("off", marks=NEEDS_PRLIMIT)],
)


@NEEDS_BUBBLEWRAP
def test_nothing_that_a_program_sees_of_this_machine_is_bound_for_writing(tmp_path: Path) -> None:
    box = bubblewrap.Box(
        tmp_path / "home", readable=[FOLDER], files=[FOLDER / "reads_what_it_can.py"]
    )
    box.home.mkdir()
    line = bubblewrap.wrap(["true"], box)
    assert str(FOLDER) in line
    bound = {word for word in line if word.startswith("--") and "bind" in word}
    assert bound == {"--ro-bind", "--ro-bind-try"}


@asynccontextmanager
async def running(
    name: str,
    *arguments: str,
    sandbox: Sandbox,
    needs: ProgramNeeds = PLAIN,
) -> AsyncIterator[tuple[StdioBot, Launch]]:
    """Run a bot of tests/bots/sandboxed as a match would; check that nothing is left."""
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments]
    with sandbox.prepare(command, Source(FOLDER), needs) as launch:
        bot = await start(launch)
        assert isinstance(bot, StdioBot), bot
        async with bot:
            yield bot, launch
    wait_until(lambda: not list(marked(bot.mark)))
    wait_until(lambda: not launch.cwd.exists())


def first_line(name: str, *arguments: str, sandbox: Sandbox, **options: Any) -> str:
    """Return the first line that a bot says."""

    async def play() -> str:
        async with running(name, *arguments, sandbox=sandbox, **options) as (bot, _):
            return line_of(await bot.receive(PATIENCE)).decode()

    return asyncio.run(play())


def known_controllers() -> frozenset[str]:
    """Return what is bounded for all processes of a bot together on this machine."""
    return frozenset().union(*(place.controllers for place in places()))


@NEEDS_BUBBLEWRAP
def test_a_fork_bomb_stays_small_also_for_root() -> None:
    sandbox = Sandbox("require", ResourceLimits(processes=40))
    line = first_line("forks_without_end", sandbox=sandbox)
    assert line.startswith("refused:"), line
    assert int(line.split()[-1]) < 40


@NEEDS_BUBBLEWRAP
def test_the_limit_of_processes_is_for_each_bot() -> None:
    async def play() -> list[int]:
        sandbox = Sandbox("require", ResourceLimits(processes=40))
        async with (
            running("forks_without_end", sandbox=sandbox) as (one, _),
            running("forks_without_end", sandbox=sandbox) as (two, _),
        ):
            lines = [line_of(await bot.receive(PATIENCE)) for bot in (one, two)]
            return [int(line.split()[-1]) for line in lines]

    assert min(asyncio.run(play())) > 25


@LIMITED
def test_memory_is_limited(policy: Policy) -> None:
    sandbox = Sandbox(policy, ResourceLimits(memory=256 * MIB))
    assert first_line("takes_4_gb", sandbox=sandbox) == "refused"


@LIMITED
def test_files_are_limited_in_size(policy: Policy) -> None:
    sandbox = Sandbox(policy, ResourceLimits(file_size=8 * MIB))
    line = first_line("writes_2_gb", sandbox=sandbox)
    assert line == f"refused: File too large wrote {8 * MIB}"


@LIMITED
def test_open_files_are_limited(policy: Policy) -> None:
    line = first_line("opens_many_files", sandbox=Sandbox(policy, ResourceLimits(files=64)))
    assert 32 < int(line) < 64


@LIMITED
def test_cpu_time_is_limited(policy: Policy) -> None:
    async def play() -> str:
        sandbox = Sandbox(policy, ResourceLimits(cpu_seconds=1))
        async with running("burns_its_time", sandbox=sandbox) as (bot, _):
            assert line_of(await bot.receive(PATIENCE)) == b"computing"
            fault = fault_of(await bot.receive(PATIENCE))
            assert fault.kind == "crashed"
            return fault.detail

    detail = asyncio.run(play())
    assert "out of processor time" in detail or "killed" in detail


@BOTH
def test_the_environment_is_clean(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "hidden")
    needs = ProgramNeeds({"BOT_SECRET": "theirs"})
    sandbox = Sandbox(policy)
    env = json.loads(first_line("tells_its_environment", sandbox=sandbox, needs=needs))
    assert env["BOT_SECRET"] == "theirs"
    names = {"PATH", "LANG", "HOME", "PYTHONUNBUFFERED", "PYTHONFAULTHANDLER"}
    names |= {"BOT_SECRET", "BOT_PROCESS", "PWD"}
    assert set(env) - {"LC_CTYPE", "SYSTEMROOT", "PATHEXT", "TEMP", "TMP", "USERPROFILE"} <= names


@NEEDS_BUBBLEWRAP
def test_no_other_files_are_seen(tmp_path: Path) -> None:
    opponent = tmp_path / "opponent"
    opponent.mkdir()
    (opponent / "strategy.py").write_text("secret = 42")
    hidden = [str(opponent), str(opponent / "strategy.py"), str(Path.home() / ".ssh")]
    hidden += [str(BOTS.parents[1] / "cw"), str(FOLDER), "/etc/shadow", "/var", "/proc/1/environ"]
    report = json.loads(
        first_line("reads_what_it_can", *hidden, "/usr", ".", sandbox=Sandbox("require"))
    )
    # The bot's own folder is named by its path in the working copy.
    own = "/bot"
    assert {name for name, readable in report.items() if readable} == {"/usr", ".", own}


@NEEDS_BUBBLEWRAP
def test_only_the_working_copy_and_tmp_can_be_written() -> None:
    places = ["/usr", "/etc", "/", "/dev", "/root", "/home", "/dev/shm", "/tmp", "."]
    report = json.loads(first_line("writes_where_it_can", *places, sandbox=Sandbox("require")))
    assert {name for name, writable in report.items() if writable} == {"/dev/shm", "/tmp", "."}
    assert not Path("/tmp/left-by-a-bot").exists()


@NEEDS_BUBBLEWRAP
def test_no_other_processes_are_seen() -> None:
    report = json.loads(first_line("looks_at_the_others", sandbox=Sandbox("require")))
    assert 0 < len(report) < 5
    assert not any("pytest" in command for command in report)


@NEEDS_BUBBLEWRAP
def test_there_is_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        errors = json.loads(first_line("opens_sockets", port, sandbox=Sandbox("require")))
    assert errors == {"127.0.0.1": "Connection refused", "192.0.2.1": "Network is unreachable"}


@BOTH
def test_a_web_service_can_be_reached(policy: Policy) -> None:
    async def play() -> int:
        needs = ProgramNeeds({"PORT": str(free_port())}, serves=True)
        async with running("serves_what_it_should", sandbox=Sandbox(policy), needs=needs) as (
            bot,
            launch,
        ):
            ready = line_of(await bot.receive(PATIENCE)).decode()
            address = ready.removeprefix("listening on ")
            async with HttpBot(address, door=launch.tunnel) as service:
                answer = await service.request(Request("GET", "/"), QueryLimits(PATIENCE))
            assert isinstance(answer, Reply), answer
            return answer.status

    assert asyncio.run(play()) == 200


@NEEDS_BUBBLEWRAP
def test_a_daemon_without_mark_dies_with_its_namespace(tmp_path: Path) -> None:
    async def play() -> str:
        sign = f"daemon-of-{tmp_path.name}-{os.getpid()}"
        sandbox = Sandbox("require")
        async with running("leaves_an_unmarked_daemon", sign, sandbox=sandbox) as (bot, _):
            line_of(await bot.receive(PATIENCE))
            assert commands_with(sign)
        return sign

    sign = asyncio.run(play())
    wait_until(lambda: not commands_with(sign))


@NEEDS_BUBBLEWRAP
def test_how_a_bot_ended_is_seen_through_the_walls() -> None:
    async def play(code: str) -> str:
        with Sandbox("require").prepare([sys.executable, "-c", code]) as launch:
            bot = await start(launch)
            assert isinstance(bot, StdioBot)
            async with bot:
                return fault_of(await bot.receive(PATIENCE)).detail

    assert "exit code 3" in asyncio.run(play("import sys; sys.exit(3)"))
    assert "segmentation fault (exit code 139): Fatal Python error" in asyncio.run(
        play("import ctypes; ctypes.string_at(0)")
    )
    assert "ZeroDivisionError" in asyncio.run(play("1 / 0"))


@NEEDS_BUBBLEWRAP
@pytest.mark.parametrize("moment", [0.0, 0.01, 0.05, 0.3])
def test_nothing_is_left_when_cancelled(moment: float) -> None:
    sign = f"cancelled-{os.getpid()}-{moment}"

    async def play() -> None:
        command = [sys.executable, "-c", "import time; time.sleep(600)", sign]
        with Sandbox("require").prepare(command) as launch:
            bot = await start(launch)
            assert isinstance(bot, StdioBot)
            async with bot:
                await bot.receive(PATIENCE)

    async def cancel() -> None:
        task = asyncio.create_task(play())
        await asyncio.sleep(moment)
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(cancel())
    wait_until(lambda: not commands_with(sign))


def test_what_protects_us_is_said_loudly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Sandbox("off").prepare([sys.executable]) as launch:
        assert launch.protection.startswith("LIMITS ONLY, it can read your files")
        assert "switched off" in launch.protection
    monkeypatch.setenv("PATH", str(tmp_path))
    bubblewrap.problem.cache_clear()
    try:
        with Sandbox("auto").prepare([sys.executable]) as launch:
            assert "LIMITS ONLY" in launch.protection
            assert "bubblewrap is not installed" in launch.protection
        refused = pytest.raises(UsageError, match="without a sandbox: bubblewrap is not installed")
        with refused, Sandbox("require").prepare([sys.executable]):
            pass
    finally:
        bubblewrap.problem.cache_clear()


@NEEDS_BUBBLEWRAP
def test_a_null_device_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # A file that is not there: root may read and write whatever there is.
    null = str(tmp_path / "null")
    monkeypatch.setattr(os, "devnull", null)
    bubblewrap.problem.cache_clear()
    try:
        assert bubblewrap.problem() == f"this user may not read and write {null}; chmod 666 {null}"
    finally:
        bubblewrap.problem.cache_clear()


@NEEDS_BUBBLEWRAP
def test_auto_takes_bubblewrap_where_it_works() -> None:
    with Sandbox().prepare([sys.executable]) as launch:
        walls, each, together = launch.protection.split("; ")
    assert walls == "bubblewrap: files, processes and network of its own"
    number = 256 if "cpu" in known_controllers() else 64
    assert each == (
        f"at most 1 GiB of memory, 256 open files, {number} processes, 3600 s of CPU,"
        " files of 64 MiB"
    )
    assert together.startswith("all its processes together: ")


@POSIX
def test_without_prlimit_the_shell_limits(tmp_path: Path) -> None:
    command = ["sh", "-c", 'ulimit -n; ulimit -t; ulimit -f; echo "$1"', "sh", "a b"]
    limits = ResourceLimits(files=50, cpu_seconds=9, file_size=MIB)
    output = subprocess.check_output(by_shell(limits, command), text=True)
    assert output.split("\n") == ["50", "9", "2048", "a b", ""]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_own_processes_are_counted() -> None:
    before = own_tasks()
    stop = threading.Event()
    threads = [threading.Thread(target=stop.wait) for _ in range(50)]
    for thread in threads:
        thread.start()
    try:
        assert own_tasks() > before
    finally:
        stop.set()
