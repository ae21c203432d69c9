"""Bots that are processes: every way to misbehave ends in a fault that names it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cw.arena.processes import MARK, describe_exit, kill_marked, marked, tree_killer
from cw.arena.transports.stdio import Answer, StdioBot
from cw.errors import FaultKind
from cw.games.rules import Fault
from tests.arena.zoo import PATIENCE, fault_of, line_of, playing, wait_until
from tests.processes import is_running

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and process groups")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
SHORT = 0.3
BUSY = 20.0
"""Seconds by which a deadline may be late where the machine is busy."""


async def ask(name: str, seconds: float, request: bytes = b'{"turns_left":5}') -> Answer | Fault:
    async with playing(f"stdio/{name}.py") as bot:
        return await bot.exchange(request, seconds)


@pytest.mark.parametrize(
    ("name", "seconds", "kind", "says"),
    [
        ("never_ready", SHORT, "timeout", "no line came within .* flush its output"),
        ("trickles", 2, "timeout", "no line came within"),
        ("endless_line", PATIENCE, "oversize", "more than 65536 bytes: 'xxx|more than 1048576"),
        ("floods_blank_lines", PATIENCE, "oversize", "more than 1048576 bytes without an answer"),
        ("never_ends_its_line", 2, "timeout", "no line came within"),
        ("exits_with_0", PATIENCE, "disconnected", "exited early .exit code 0"),
        ("exits_with_137", PATIENCE, "crashed", "killed, perhaps .* .exit code 137"),
        ("raises", PATIENCE, "crashed", "(?s)exit code 1.*RuntimeError: the plan was wrong"),
        ("closes_stdout", PATIENCE, "disconnected", "closed its .* output, but keeps running"),
        pytest.param(
            "segfaults", PATIENCE, "crashed", "segmentation fault .signal SIGSEGV", marks=POSIX
        ),
    ],
)
def test_misbehaviour_is_a_fault_that_names_it(
    name: str, seconds: float, kind: FaultKind, says: str
) -> None:
    fault = fault_of(asyncio.run(ask(name, seconds)))
    assert (fault.kind, bool(re.search(says, fault.detail))) == (kind, True), fault


def test_a_bot_that_was_ready_and_falls_asleep_is_late() -> None:
    async def play() -> Fault:
        async with playing("stdio/sleeps_on_a_turn.py") as bot:
            assert line_of(await bot.receive(PATIENCE)) == b'{"ready":true}'
            return fault_of(await bot.exchange(b"go", SHORT))

    assert asyncio.run(play()) == Fault("timeout", "no line came within 0.3 s")


def test_a_line_that_was_begun_is_shown() -> None:
    async def play() -> Fault:
        async with playing("stdio/never_ends_its_line.py") as bot:
            assert await bot.send(b"go", PATIENCE) is None
            while not bot.received:
                fault_of(await bot.receive(0.05))
            return fault_of(await bot.receive(0))

    assert "its last line has no line end: '{\"turns_left\":5}'" in asyncio.run(play()).detail


@pytest.mark.parametrize("name", ["trickles", "floods_lines", "never_ready"])
def test_the_deadline_holds_whatever_comes(name: str) -> None:
    async def play() -> float:
        async with playing(f"stdio/{name}.py", flood_cap=2**40) as bot:
            began = time.monotonic()
            while time.monotonic() - began < SHORT:
                await bot.receive(SHORT)
            return time.monotonic() - began

    assert asyncio.run(play()) < BUSY


def test_a_flood_of_lines_ends_the_bot() -> None:
    async def play() -> list[Fault]:
        async with playing("stdio/floods_lines.py") as bot:
            assert await bot.send(b"go", PATIENCE) is None
            while isinstance(answer := await bot.receive(PATIENCE), Answer):
                assert bot.received < 2 * 2**20
            assert fault_of(answer) == bot.gone
            again = [await bot.receive(SHORT), await bot.exchange(b"go", SHORT)]
            return [fault_of(answer) for answer in (answer, *again)]

    assert {fault.kind for fault in asyncio.run(play())} == {"oversize"}


def test_a_long_line_is_dropped_and_the_next_one_read() -> None:
    async def play() -> None:
        async with playing("stdio/writes_a_long_line_first.py") as bot:
            for request in (b"one", b"two"):
                assert fault_of(await bot.exchange(request, PATIENCE)).kind == "oversize"
                assert line_of(await bot.receive(PATIENCE)) == request

    asyncio.run(play())


def test_the_cap_is_a_parameter() -> None:
    async def play() -> None:
        async with playing("stdio/writes_a_long_line_first.py", line_cap=200_000) as bot:
            assert len(line_of(await bot.exchange(b"one", PATIENCE))) == 100_000

    asyncio.run(play())


def test_200_mb_of_errors_neither_block_nor_stay() -> None:
    async def play() -> str:
        async with playing("stdio/floods_stderr.py") as bot:
            assert line_of(await bot.exchange(b"go", PATIENCE)) == b"go"
            while not bot.stderr.text().endswith("tail of the errors\n"):
                await asyncio.sleep(0.01)
            assert bot.stderr.length > 200_000_000
            return bot.stderr.text()

    output = asyncio.run(play())
    assert output.startswith("the head of the errors\neee")
    assert len(output) < 70_000
    assert re.search(r"e\n\.\.\. \d+ bytes left out \.\.\.\ne", output)


def test_what_came_unasked_is_no_answer() -> None:
    async def play() -> int:
        async with playing("stdio/answers_unasked.py") as bot:
            while bot.received < len("early 1\nearly 2\nearly 3\n"):
                await asyncio.sleep(0.01)
            assert line_of(await bot.exchange(b"1", PATIENCE)) == b"asked 1"
            return bot.unasked

    assert asyncio.run(play()) == 3


def test_received_in_order_early_lines_are_known_by_their_time() -> None:
    async def play() -> None:
        async with playing("stdio/answers_unasked.py") as bot:
            # The end of the last line may be written apart.
            while bot.received < len("early 1\nearly 2\nearly 3\n"):
                await asyncio.sleep(0.01)
            assert await bot.send(b"1", PATIENCE) is None
            answers = [await bot.receive(PATIENCE) for _ in range(4)]
            assert [line_of(a) for a in answers] == [b"early 1", b"early 2", b"early 3", b"asked 1"]
            assert [isinstance(a, Answer) and a.seconds < 0 for a in answers] == [True] * 3 + [
                False
            ]

    asyncio.run(play())


def test_of_two_answers_the_second_is_dropped() -> None:
    async def play() -> None:
        async with playing("stdio/answers_twice.py") as bot:
            for request in (b"1", b"2", b"3"):
                assert line_of(await bot.exchange(request, PATIENCE)) == b"first " + request
            assert bot.unasked == 2

    asyncio.run(play())


def test_a_late_answer_is_told_from_the_next_one_by_its_nonce() -> None:
    async def play() -> list[bytes]:
        async with playing("stdio/answers_late.py") as bot:
            assert await bot.send(b'{"turns_left":6}', PATIENCE) is None
            assert fault_of(await bot.receive(SHORT)).kind == "timeout"
            assert await bot.send(b'{"turns_left":5}', PATIENCE) is None
            return [line_of(await bot.receive(PATIENCE)) for _ in range(2)]

    late, answer = asyncio.run(play())
    assert [json.loads(line)["turns_left"] for line in (late, answer)] == [6, 5]


def test_an_old_nonce_reaches_the_protocol() -> None:
    assert line_of(asyncio.run(ask("answers_the_last_turn", PATIENCE))) == b'{"turns_left": 6}'


def test_remarks_reach_the_protocol_before_the_answer() -> None:
    async def play() -> list[bytes]:
        async with playing("stdio/prints_its_thoughts.py") as bot:
            assert await bot.send(b"go", PATIENCE) is None
            return [line_of(await bot.receive(PATIENCE)) for _ in range(2)]

    assert asyncio.run(play()) == [b"thinking about 3 bytes", b"go"]


def test_bytes_that_are_no_utf_8_reach_the_protocol() -> None:
    assert line_of(asyncio.run(ask("writes_no_utf8", PATIENCE))) == b"\xff\xfe\x80"


def test_line_ends_of_windows_and_empty_lines_are_no_part_of_an_answer() -> None:
    assert line_of(asyncio.run(ask("answers_windows_style", PATIENCE, b"go"))) == b"go"


def test_half_an_answer_before_the_end_is_marked_as_such() -> None:
    async def play() -> tuple[Answer | Fault, Answer | Fault]:
        async with playing("stdio/ends_in_half_an_answer.py") as bot:
            return await bot.exchange(b"go", PATIENCE), await bot.receive(PATIENCE)

    half, end = asyncio.run(play())
    assert isinstance(half, Answer)
    assert (half.line, half.complete) == (b'{"turns_left":', False)
    assert fault_of(end).kind == "disconnected"


def test_a_bot_that_closed_its_input_is_gone() -> None:
    async def play() -> Fault:
        async with playing("stdio/closes_stdin.py") as bot:
            assert line_of(await bot.receive(PATIENCE)) == b'{"ready":true}'
            return fault_of(await bot.exchange(b"go", SHORT))

    fault = asyncio.run(play())
    assert (fault.kind, "closed its standard input" in fault.detail) == ("disconnected", True)


def test_a_request_that_is_not_read_is_a_timeout() -> None:
    async def play() -> list[Fault]:
        async with playing("stdio/never_reads.py") as bot:
            assert line_of(await bot.receive(PATIENCE)) == b'{"ready":true}'
            request = b"x" * 2**20
            return [fault_of(await bot.exchange(request, SHORT)) for _ in range(2)]

    first, second = asyncio.run(play())
    assert (first.kind, second.kind) == ("timeout", "timeout")
    assert "did not read all 1048577 bytes from its standard input within 0.3" in first.detail
    assert second.detail == "it is still busy with an earlier turn"


def test_no_request_is_queued_behind_an_unfinished_one(tmp_path: Path) -> None:
    async def play() -> None:
        start = tmp_path / "start"
        async with playing("stdio/reads_after_a_while.py", str(start)) as bot:
            for size in (2**20, 1000, 2000):
                assert fault_of(await bot.send(b"x" * size, SHORT / 3)).kind == "timeout"
            start.touch()
            assert await bot.send(b"newest", PATIENCE) is None
            lengths = [line_of(await bot.receive(PATIENCE)) for _ in range(2)]
            assert lengths == [b"%d" % (2**20 + 1), b"7"]

    asyncio.run(play())


def test_the_time_of_an_answer_is_measured() -> None:
    answer = asyncio.run(ask("answers_twice", PATIENCE))
    assert isinstance(answer, Answer)
    assert 0 < answer.seconds < PATIENCE


def test_a_program_that_is_not_there_is_a_startup_fault() -> None:
    fault = fault_of(asyncio.run(StdioBot.start(["no-such-program-anywhere"])))
    assert (fault.kind, "'no-such-program-anywhere'" in fault.detail) == ("startup", True)


def test_a_bot_may_leave_by_itself_when_its_input_ends() -> None:
    async def play() -> None:
        async with playing("stdio/answers_twice.py") as bot:
            await bot.exchange(b"go", PATIENCE)
            await bot.close(patience=PATIENCE)
            fault = fault_of(bot.gone)
            assert (fault.kind, "exit code 0" in fault.detail) == ("disconnected", True)

    asyncio.run(play())


@POSIX
def test_a_bot_that_ignores_sigterm_is_killed() -> None:
    async def play() -> str:
        async with playing("stdio/ignores_sigterm.py") as bot:
            await bot.exchange(b"go", PATIENCE)
            await bot.close(grace=SHORT)
            return fault_of(bot.gone).detail

    assert "killed" in asyncio.run(play())


@LINUX
@pytest.mark.parametrize("name", ["leaves_a_child", "leaves_a_daemon"])
def test_no_child_and_no_daemon_is_left(name: str) -> None:
    async def play() -> int:
        async with playing(f"stdio/{name}.py") as bot:
            child = int(line_of(await bot.receive(PATIENCE)))
            assert is_running(child)
            return child

    child = asyncio.run(play())
    # It was killed; the system takes a moment to bury it.
    wait_until(lambda: not is_running(child))


@LINUX
def test_a_child_that_holds_the_pipes_does_not_hide_the_end() -> None:
    async def play() -> None:
        async with playing("stdio/leaves_a_child.py") as bot:
            child = int(line_of(await bot.receive(PATIENCE)))
            assert fault_of(await bot.exchange(b"go", PATIENCE)).kind == "disconnected"
            wait_until(lambda: not is_running(child))

    asyncio.run(play())


@LINUX
@pytest.mark.parametrize("moment", [0.0, 0.001, 0.01, 0.05, 0.3])
@pytest.mark.parametrize(
    "work",
    [
        lambda bot: bot.exchange(b"go", PATIENCE),
        lambda bot: bot.send(b"x" * 2**20, PATIENCE),
        lambda bot: bot.close(grace=PATIENCE),
    ],
    ids=["exchange", "send", "close"],
)
def test_nothing_is_left_when_cancelled(moment: float, work: Callable[[StdioBot], object]) -> None:
    """Cancelled at any moment, also while the program starts and while it is ended."""
    bots: list[StdioBot] = []

    class Noted(StdioBot):
        def __init__(self) -> None:
            super().__init__()
            bots.append(self)

    async def play() -> None:
        bot = await Noted.start([sys.executable, "-c", "import time; time.sleep(600)"])
        assert isinstance(bot, StdioBot)
        async with bot:
            await work(bot)  # type: ignore[misc]

    async def cancel() -> None:
        task = asyncio.create_task(play())
        await asyncio.sleep(moment)
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(cancel())
    assert not [process for bot in bots for process in marked(bot.mark)]


def test_output_can_be_ignored() -> None:
    async def play() -> str:
        async with playing("stdio/answers_unasked.py") as bot:
            assert line_of(await bot.receive(PATIENCE)) == b"early 1"
            log = bot.ignore_output()
            assert await bot.send(b"go", PATIENCE) is None
            async with asyncio.timeout(PATIENCE):
                while "asked go" not in log.text():
                    await asyncio.sleep(0.01)
            return log.text()

    assert asyncio.run(play()).splitlines()[-1] == "asked go"


@LINUX
def test_a_process_that_replaces_its_program_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bearer = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], MARK: "late"})
    other = subprocess.Popen(["sleep", "600"], env={})
    read = Path.read_bytes
    hidden = [b"", b""]

    def late(path: Path) -> bytes:
        if path == Path(f"/proc/{bearer.pid}/environ") and hidden:
            return hidden.pop()
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", late)
    try:
        kill_marked("late")
        assert bearer.wait() == -signal.SIGKILL
        assert other.poll() is None
    finally:
        for process in (bearer, other):
            process.kill()
            process.wait()


def test_a_foreign_mark_kills_nothing() -> None:
    kill_marked("a mark that nobody bears")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (0, "the program exited early (exit code 0)"),
        (3, "the program exited early (exit code 3)"),
        (-11, "segmentation fault (signal SIGSEGV)"),
        (139, "segmentation fault (exit code 139)"),
        (-10, "ended by SIGUSR1 (signal SIGUSR1)"),
        (255, "the program exited early (exit code 255)"),
    ],
)
@POSIX
def test_exits_are_described(code: int, says: str) -> None:
    assert describe_exit(code) == says


def test_where_no_signal_asks_a_bot_to_end_it_ends_with_its_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on Windows, where it would be killed otherwise, before it has put anything in order."""
    monkeypatch.setattr("cw.arena.program.ASKS_BY_SIGNAL", False)

    async def play() -> str:
        async with playing("stdio/waits_for_the_end.py") as bot:
            await bot.exchange(b"go", PATIENCE)
            await bot.close(grace=PATIENCE)
            return fault_of(bot.gone).detail

    assert "exit code 7" in asyncio.run(play())


def test_the_tree_of_a_process_is_killed_by_the_program_of_windows_itself() -> None:
    command = subprocess.list2cmdline(tree_killer(4711, "C:\\Windows"))
    assert command == "C:\\Windows\\System32\\taskkill.exe /F /T /PID 4711"
