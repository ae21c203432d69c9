"""The player process: reads tasks from stdin and writes results to stdout."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from time import sleep
from traceback import format_exc
from typing import Any, BinaryIO, Final, TypeAlias

import msgspec

from cw.arena.sandbox import bubblewrap
from cw.arena.sandbox.measured import measured
from cw.errors import ArenaError, CapacityError, Failure, UsageError
from cw.games.registry import load_admission
from cw.games.rules import Fault
from cw.games.wire import Readiness
from cw.matches.check import Candidate, alone, ask_ready, check, probe
from cw_hub.players import playing
from cw_hub.players.messages import (
    LARGEST_LINE,
    Answered,
    Answers,
    Ask,
    Check,
    Done,
    Failed,
    FromPlayer,
    Match,
    Measure,
    Measured,
    Message,
    Outbox,
    Program,
    Question,
    Readinesses,
    Ready,
    Secrets,
    Task,
    ToPlayer,
)
from cw_hub.players.programs import Room

AT_ONCE: Final = 100
"""Maximum number of bots that are checked concurrently."""

OWN_AT_ONCE: Final = 3
"""Maximum number of these that belong to one owner."""

Step: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Steps:
    """The steps of a check so far (see `checks.CheckReport`)."""

    entries: list[Step] = field(default_factory=list)

    def step(self, name: str, problem: Fault | str | None, fix: str) -> bool:
        """Record a step."""
        self.entries.append(entry_of(name, problem, fix))
        return problem is None

    def warn(self, name: str, problem: Fault | str | None, fix: str) -> None:
        """Record a step whose failure does not make a bot inactive."""
        self.entries.append({**entry_of(name, problem, fix), "warning": True})


def entry_of(name: str, problem: Fault | str | None, fix: str) -> Step:
    """Return a step in the form stored in bot rows."""
    if problem is None:
        return {"step": name, "ok": True}
    sentence = problem.sentence if isinstance(problem, Fault) else problem
    return {"step": name, "ok": False, "problem": sentence, "fix": fix}


def failed(name: str, problem: str) -> tuple[Step, ...]:
    """Return the only step of a check that could not continue."""
    return (entry_of(name, problem, ""),)


def check_program(task: Check, room: Room) -> Answers:
    """Run a program through the steps of `cw check`."""
    bot = room.bots(task.game).get(task.bot.name, task.bot)
    if bot.kind == "absent":
        return Answers(failed("program", bot.target))
    candidate = Candidate(task.game, bot, {}, task.isolation, task.options)
    return Answers(tuple(step.to_json() for step in check(candidate)))


def ask(task: Ask, report: Callable[[Message], object]) -> Done:
    """Check web services concurrently, only a few per owner; report each."""
    asyncio.run(ask_all(task, report))
    return Done()


async def ask_all(task: Ask, report: Callable[[Message], object]) -> None:
    """Check web services; report each."""
    places = asyncio.Semaphore(AT_ONCE)
    own_places = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(OWN_AT_ONCE))
    # A name server that does not respond blocks a thread for longer than its bot's timeout.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2 * AT_ONCE))

    async def ask_one(number: int, question: Question) -> None:
        async with own_places[question.owner], places:
            report(await answered(number, question))

    await asyncio.gather(*(ask_one(*each) for each in enumerate(task.questions)))


async def answered(number: int, question: Question) -> Answered:
    """Check a web service; return the result."""
    try:
        return Answered(number, tuple(await steps_of(question)))
    except UsageError as error:
        return Answered(number, failed("address", str(error)))
    except Failure:
        return Answered(number, None, format_exc())


async def steps_of(question: Question) -> list[Step]:
    """Check a bot by its game's admission, or by the steps of `probe` if there is none."""
    bot = question.bot
    secrets: Mapping[str, dict[str, str]] = {bot.name: question.secrets}
    candidate = Candidate(question.game, bot, secrets, question.isolation)
    admission = load_admission(question.game)
    if admission is None:
        return [step.to_json() for step in await probe(candidate)]
    steps = Steps()
    async with alone(candidate) as (referee, player):
        if await admission.health(referee, player, steps) and not question.health_alone:
            await admission.protocol(referee, player, steps)
    return steps.entries


def ask_if_ready(task: Ready) -> Readinesses:
    """Ask web services whether they are ready to play."""
    asked = ask_ready(task.game, task.bots, task.secrets, task.isolation)
    return Readinesses(tuple(map(plain, asyncio.run(asked))))


def plain(readiness: Readiness) -> Readiness:
    """Return a bot's readiness without its reply's body and headers, which are not needed."""
    reply = readiness.reply
    return replace(readiness, reply=reply and replace(reply, body=b"", headers={}))


PR_SET_DUMPABLE: Final = 4


def hide_process() -> None:
    """Hide this process's environment and memory from other processes of its user (Linux).

    Processes forked from it are hidden as well, until they execute another program.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise Failure(f"this process cannot be hidden: {os.strerror(ctypes.get_errno())}")


READER: Final = msgspec.json.Decoder(ToPlayer)

LEAVING: Final = 4.0
"""Seconds that a player has to end its task after its input has ended."""

TRACE: Final = 4000
"""Number of last characters of a traceback that are reported."""


def main() -> None:
    """Carry out the tasks on standard input until it ends."""
    # The hub ends its players by closing their input; a signal to all of the hub's processes must
    # not look like a failed match. Handlers are used because bots would inherit ignored signals.
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    source, target = private_pipes()
    outbox, inbox = Outbox(target), Inbox(source)
    with suppress(KeyboardInterrupt):
        while do_next(inbox, outbox):
            pass
        outbox.close()


def private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return standard input and output; nothing else in this process can use them afterwards."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Accidental prints must not look like messages.
    os.dup2(2, 1)
    return source, target


class Inbox:
    """Reads messages in a thread; the end of the input interrupts the current task."""

    def __init__(self, source: BinaryIO) -> None:
        """Start the thread."""
        self._source = source
        self._messages = SimpleQueue[Program | Task | None]()
        self.is_busy = False
        """Whether a task is in progress."""
        self.has_ended = False
        """Whether the input has ended; set before `is_busy` is read, so no task starts unseen."""
        self.secrets: dict[str, Mapping[str, str]] = {}
        """Secrets by bot name for the current match; they may change at any time."""
        threading.Thread(target=self._read, name="input", daemon=True).start()

    def next(self) -> Program | Task | None:
        """Return the next message, or None at the end of the input."""
        return self._messages.get()

    def _read(self) -> None:
        with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            while (line := self._source.readline(LARGEST_LINE)).endswith(b"\n"):
                self._take(READER.decode(line))
        self.has_ended = True
        self._messages.put(None)
        if self.is_busy:
            interrupt_main()
            sleep(LEAVING)
            os._exit(70)

    def _take(self, message: ToPlayer) -> None:
        if isinstance(message, Secrets):
            self.secrets.update(message.secrets)
            return
        if isinstance(message, Match):
            self.secrets = dict(message.secrets)
        self._messages.put(message)


def interrupt_main() -> None:
    """Interrupt the main thread as Ctrl-C does."""
    if sys.platform == "win32":
        import _thread  # noqa: PLC0415 - only Windows needs it

        _thread.interrupt_main()
    else:
        # Sent to that thread, as it may be blocked in a system call.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def do_next(inbox: Inbox, outbox: Outbox) -> bool:
    """Receive programs and a task, and carry it out; return False at the end of the input."""
    with Room(outbox.put) as room:
        while isinstance(message := inbox.next(), Program):
            room.add(message)
        if message is None:
            return False
        inbox.is_busy = True
        if inbox.has_ended:
            return False
        with outbox.beating():
            last = answer(message, room, inbox, outbox)
        inbox.is_busy = False
    outbox.put_line(last)
    return True


def answer(task: Task, room: Room, inbox: Inbox, outbox: Outbox) -> bytes:
    """Carry out a task; return the message that ends it as a line."""
    try:
        return done(task, room, inbox, outbox).line()
    except UsageError as error:
        failed = Failed("usage", str(error))
    except CapacityError as error:
        failed = Failed("capacity", str(error))
    except ArenaError as error:
        failed = Failed("failure", str(error))
    except Exception as error:
        failed = Failed("defect", type(error).__name__, format_exc()[-TRACE:])
    return failed.line()


def done(task: Task, room: Room, inbox: Inbox, outbox: Outbox) -> FromPlayer:
    """Carry out a task; return the message that ends it."""
    if isinstance(task, Match):
        if task.spec.isolation.sandbox == "auto" and sys.platform == "linux":
            # A program without a sandbox could read the secrets of other bots.
            hide_process()
        return playing.play(task, room, inbox.secrets, outbox)
    if isinstance(task, Check):
        return check_program(task, room)
    if isinstance(task, Ask):
        return ask(task, outbox.put)
    if isinstance(task, Ready):
        return ask_if_ready(task)
    if isinstance(task, Measure):
        problem = bubblewrap.problem()
        return (
            Measured(problem) if problem else Measured("", measured(tuple(map(Path, task.private))))
        )
    # Imported late, because the workshop takes as much memory as everything else.
    from cw_hub.players import drafts  # noqa: PLC0415

    return drafts.work(task, room, outbox.put)
