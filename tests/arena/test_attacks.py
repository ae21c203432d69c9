"""Attacks of programs on their opponents, on us and on other matches, and what becomes of them."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from cw.arena.bots import BotSpec
from cw.arena.launch import start
from cw.arena.sandbox import Policy, Sandbox, Source
from cw.arena.sandbox.cgroups import places
from cw.arena.sandbox.folders import remove_tree
from cw.arena.sandbox.set_limits import MIB, ResourceLimits
from cw.arena.transports.stdio import StdioBot
from cw.errors import Failure
from cw.kits import new_bot
from tests.arena.attacking import (
    BOTH,
    POSIX,
    RANDOM,
    ROOT,
    faults,
    match,
    next_line,
    program,
    started,
    stderr,
    written,
)
from tests.arena.zoo import PATIENCE, fault_of, wait_until
from tests.tools import NEEDS_BUBBLEWRAP

pytestmark = pytest.mark.usefixtures("patient_painters")

SPINS = """
import os
born = 0
for _ in range(150):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        os.setsid()
        while True:
            pass
    born += 1
print(born, flush=True)
input()
"""

WORKS = """
import time
print("ready", flush=True)
input()
before, began = time.process_time(), time.perf_counter()
while time.process_time() - before < 0.3:
    pass
print(0.3 / (time.perf_counter() - began), flush=True)
input()
"""

FAIR = pytest.mark.skipif(
    not any("cpu" in place.controllers for place in places()),
    reason="needs control groups that may be written",
)


@NEEDS_BUBBLEWRAP
@FAIR
def test_a_bot_that_spins_in_many_sessions_leaves_an_honest_one_its_share(tmp_path: Path) -> None:
    """150 sessions and one would each get 1/151: of 2 cores that is 0.013 of one.

    By bot it is a whole core, or less of it on a machine that others use too.
    """

    async def play() -> float:
        with ExitStack() as stack:
            honest = await started(written(tmp_path / "honest", "honest", WORKS), stack)
            greedy = await started(written(tmp_path / "greedy", "greedy", SPINS), stack)
            async with honest, greedy:
                assert await next_line(honest) == "ready"
                assert int(await next_line(greedy)) == 150
                await honest.send(b"go", 60)
                return float(await next_line(honest))

    assert asyncio.run(play()) > 0.03


READS = """
import json, os, sys
import cw.game
found = []
for place in sys.argv[1:]:
    try:
        found += os.listdir(place) if os.path.isdir(place) else [open(place).read()]
    except OSError:
        pass
print(json.dumps(found), file=sys.stderr, flush=True)
"""


@NEEDS_BUBBLEWRAP
def test_a_client_reads_neither_the_checkout_nor_other_teams(tmp_path: Path) -> None:
    other = written(tmp_path / "teams" / "other", "other", "secret = 42")
    reader = written(tmp_path / "teams" / "reader", "reader", READS)
    (tmp_path / "results.jsonl").write_text("won")
    places = [ROOT, ROOT / "README.md", ROOT / "tests", tmp_path, tmp_path / "results.jsonl"]
    places += [tmp_path / "teams", tmp_path / "teams" / "other", Path(other.command[1])]
    command = " ".join([reader.target, *map(str, places)])
    played = match("circuit-wars", BotSpec("reader", "exec", command), RANDOM, size=1)
    # The Python that runs bots may stand in the checkout too.
    assert set(json.loads(stderr(played)["reader"].splitlines()[0])) <= {"cw", ".venv"}


@NEEDS_BUBBLEWRAP
def test_a_client_sees_of_this_package_what_it_imports(tmp_path: Path) -> None:
    source = "import os, sys, cw.game\nfor place, _, names in os.walk(sys.argv[1]):\n"
    source += "    print(*(place + '/' + name for name in names), sep='\\n', file=sys.stderr)\n"
    lister = written(tmp_path / "bot", "lister", source)
    command = f"{lister.target} {ROOT / 'cw'}"
    played = match("circuit-wars", BotSpec("lister", "exec", command), RANDOM, size=1)
    files = {Path(line) for line in stderr(played)["lister"].split("\n") if line.endswith(".py")}
    loaded = "import cw.game, sys; print(*(m.__file__ for n, m in sys.modules.items()"
    loaded += " if n.partition('.')[0] == 'cw'), sep='\\n')"
    assert {str(path) for path in files} == set(printed(loaded).splitlines())


def printed(code: str) -> str:
    """Return what another Python prints."""
    return subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT)


LISTS = """
import os, sys
for place, _, names in os.walk("."):
    for name in names:
        print("sees", os.path.relpath(os.path.join(place, name)), file=sys.stderr)
"""


@BOTH
def test_a_bot_in_a_home_folder_is_given_itself_alone(
    policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    bot = written(tmp_path, "lister", LISTS)
    for name in ("letter.txt", ".ssh/id_rsa", "work/plan.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    played = match("paint", bot, RANDOM, policy=policy, turns=1)
    assert stderr(played)["lister"].splitlines() == ["sees bot.py"]


@BOTH
def test_bots_of_one_folder_are_not_given_each_other(policy: Policy, tmp_path: Path) -> None:
    ann = written(tmp_path, "ann", LISTS, "ann.py")
    bob = written(tmp_path, "bob", "", "bob.py")
    written(tmp_path / "carl", "carl", "")
    (tmp_path / "helper.py").touch()
    played = match("paint", ann, bob, policy=policy, turns=1)
    lines = {"sees ann.py", "sees helper.py"}
    assert set(stderr(played)["ann"].splitlines()) == {*lines, "sees carl/bot.py"}
    carl = program("carl", tmp_path / "carl" / "bot.py")
    played = match("paint", ann, carl, policy=policy, turns=1)
    assert set(stderr(played)["ann"].splitlines()) == {*lines, "sees bob.py"}


KNOCKS = """
import socket, sys
for port in map(int, sys.argv[1:]):
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
        print("reached", port, file=sys.stderr, flush=True)
    except OSError as error:
        print(error.strerror, file=sys.stderr, flush=True)
"""


@NEEDS_BUBBLEWRAP
@pytest.mark.parametrize("game", ["hexagon", "circuit-wars"])
def test_a_bot_that_serves_or_asks_reaches_no_server_of_this_machine(
    game: str, tmp_path: Path
) -> None:
    bot = written(tmp_path / "bot", "knocker", KNOCKS)
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = f"{bot.target} {server.getsockname()[1]}"
        played = match(game, BotSpec("knocker", "exec", command), RANDOM)
    assert stderr(played)["knocker"].splitlines() == ["Connection refused"]


@NEEDS_BUBBLEWRAP
def test_bots_that_serve_play_each_in_a_network_of_their_own(tmp_path: Path) -> None:
    new_bot("hexagon", "python", tmp_path / "bot")
    bots = [program(name, tmp_path / "bot" / "bot.py") for name in ("one", "two")]
    played = match("hexagon", *bots, policy="require")
    assert played.faults == []
    assert played.outcome is not None


FILLS = """
import os, sys
total = 0
for place in (".", "/tmp", "/dev/shm"):
    try:
        for number in range(40):
            with open(os.path.join(place, str(number)), "wb", buffering=0) as file:
                for _ in range(32):
                    total += file.write(bytes(2**20))
    except OSError as error:
        print(error.strerror, file=sys.stderr, flush=True)
print(total // 2**20, file=sys.stderr, flush=True)
"""


@NEEDS_BUBBLEWRAP
def test_a_bot_fills_neither_its_folder_nor_a_temporary_one(tmp_path: Path) -> None:
    bot = written(tmp_path / "bot", "filler", FILLS)
    lines = stderr(match("paint", bot, RANDOM, turns=1))["filler"].splitlines()
    assert lines[:3] == ["No space left on device"] * 3
    assert int(lines[3]) <= 3 * 64


@BOTH
def test_a_folder_that_is_too_large_is_its_own_bots_fault(policy: Policy, tmp_path: Path) -> None:
    bot = written(tmp_path / "bot", "fat", "")
    with (tmp_path / "bot" / "film").open("wb") as film:
        film.truncate(260 * 2**20)
    for game in ("paint", "circuit-wars", "hexagon"):
        played = match(game, bot, RANDOM, policy=policy)
        assert faults(played, "fat")[0] == "startup"
        assert "256 MiB" in played.faults[0].fault.detail


@BOTH
def test_a_program_that_is_not_there_is_its_own_bots_fault(policy: Policy) -> None:
    for game in ("paint", "circuit-wars", "hexagon"):
        played = match(game, BotSpec("lost", "exec", "no-such-program"), RANDOM, policy=policy)
        assert faults(played, "lost")[0] == "startup"
        assert "there is no program 'no-such-program'" in played.faults[0].fault.detail


NESTS = """
import os, sys
for _ in range(2500):
    os.mkdir("d")
    os.chdir("d")
os.chmod(".", 0)
print("2500 deep", file=sys.stderr)
"""


@POSIX
@BOTH
def test_a_result_does_not_depend_on_cleaning_up(
    policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    bot = written(tmp_path / "bot", "nester", NESTS)
    try:
        played = match("paint", bot, RANDOM, policy=policy, turns=1)
        assert stderr(played)["nester"] == "2500 deep\n"
        assert played.outcome is not None
        wait_until(lambda: not list(scratch.iterdir()))
    finally:
        # pytest cannot remove such folders either, and would fail at the end.
        subprocess.run(["rm", "-rf", str(scratch)], check=True)


LITTERS = """
import os, sys
os.mkdir("many")
for number in range(20_000):
    os.close(os.open(f"many/{number}", os.O_CREAT))
print(len(os.listdir("many")), "files", file=sys.stderr)
"""


@pytest.mark.thorough
@POSIX
@BOTH
def test_matches_do_not_wait_until_thousands_of_files_are_removed(
    policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is removed before two matches are over: whoever waited for that would hang."""
    scratch, removing = tmp_path / "scratch", threading.Event()
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def remove_on_signal(folder: Path) -> None:
        assert removing.wait(PATIENCE)
        remove_tree(folder)

    monkeypatch.setattr("cw.arena.sandbox.remove_tree", remove_on_signal)
    bot = written(tmp_path / "bot", "litterer", LITTERS)
    try:
        played = match("paint", bot, RANDOM, policy=policy, turns=1)
        assert stderr(played)["litterer"] == "20000 files\n"
        assert played.outcome is not None
        left = sum(len(names) for _, _, names in os.walk(scratch))
        assert left >= 20_000 if policy == "off" else left < 100
        new_bot("paint", "python", tmp_path / "kit")
        other = program("other", tmp_path / "kit" / "bot.py")
        assert match("paint", other, RANDOM, policy=policy, turns=1).faults == []
    finally:
        removing.set()
    wait_until(lambda: not list(scratch.iterdir()))


NOWHERE = """
import time
print("listening on nowhere", flush=True)
time.sleep(600)
"""


@BOTH
@pytest.mark.parametrize("address", ["nowhere", "http://192.0.2.1:80", "https://127.0.0.1:1"])
def test_a_service_that_says_no_address_of_its_own_is_not_started(
    policy: Policy, address: str, tmp_path: Path
) -> None:
    bot = written(tmp_path, "lost", NOWHERE.replace("nowhere", address))
    played = match("hexagon", bot, RANDOM, policy=policy)
    assert set(faults(played, "lost")) == {"startup"}
    assert f'"listening on {address}"' in played.faults[0].fault.detail


@NEEDS_BUBBLEWRAP
@pytest.mark.parametrize("game", ["hexagon", "circuit-wars"])
def test_a_temporary_folder_whose_path_is_too_long_is_told(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / ("long" * 25)
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with pytest.raises(Failure, match="set TMPDIR to a folder with a short path"):
        match(game, written(tmp_path / "bot", "bot", NOWHERE), RANDOM)
    wait_until(lambda: not list(scratch.iterdir()))


HOARDS = """
import os, sys
print("hoarding", file=sys.stderr, flush=True)
held = [os.memfd_create(str(number)) for number in range(200)]
for file in held:
    for _ in range(60):
        os.write(file, bytes(2**20))
print("has 12 GB", file=sys.stderr, flush=True)
"""


@NEEDS_BUBBLEWRAP
@pytest.mark.skipif(
    not any("memory" in place.controllers for place in places()),
    reason="needs control groups that may be written",
)
def test_memory_that_is_no_process_own_is_bounded_too(tmp_path: Path) -> None:
    """Files in memory count for no limit of a process: 200 of them would make 12 GB."""

    async def play() -> str:
        bot = written(tmp_path, "hoarder", HOARDS)
        sandbox = Sandbox("require", ResourceLimits(whole_memory=256 * MIB))
        with sandbox.prepare(bot.command, Source(tmp_path)) as prepared:
            program = await start(prepared)
            assert isinstance(program, StdioBot)
            async with program:
                return fault_of(await program.receive(PATIENCE)).detail

    detail = asyncio.run(play())
    assert "killed, perhaps because it used too much memory" in detail
    assert "has 12 GB" not in detail
