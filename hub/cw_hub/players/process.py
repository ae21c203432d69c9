"""The process that plays: reads tasks from its input, and answers on its output."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from time import sleep
from traceback import format_exc
from typing import BinaryIO, Final

import msgspec

from cw.arena.sandbox import bubblewrap
from cw.arena.sandbox.measured import measured
from cw.errors import ArenaError, CapacityError, UsageError
from cw_hub.players import asking, playing
from cw_hub.players.hiding import hide_process
from cw_hub.players.messages import (
    LARGEST_LINE,
    Ask,
    Check,
    Failed,
    FromPlayer,
    Match,
    Measure,
    Measured,
    Program,
    Ready,
    Secrets,
    Task,
    ToPlayer,
)
from cw_hub.players.outbox import Outbox
from cw_hub.players.programs import Room

READER: Final = msgspec.json.Decoder(ToPlayer)

LEAVING: Final = 4.0
"""Seconds that a player has to end its task once its input has ended."""

TRACE: Final = 4000
"""Last characters of a trace that are reported."""


def main() -> None:
    """Carry out the tasks on standard input until it ends."""
    # The hub ends its players by closing their input: a signal to all of the hub's processes must
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
    # Accidental prints must not look like answers.
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
        """Whether the input has ended; set before `is_busy` is read, so no task begins unseen."""
        self.secrets: dict[str, Mapping[str, str]] = {}
        """By name of a bot, for the current match; they may change at any moment."""
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
    """Carry out a task; return the line of the message that ends it."""
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
        return asking.check_program(task, room)
    if isinstance(task, Ask):
        return asking.ask(task, outbox.put)
    if isinstance(task, Ready):
        return asking.ask_if_ready(task)
    if isinstance(task, Measure):
        problem = bubblewrap.problem()
        return (
            Measured(problem) if problem else Measured("", measured(tuple(map(Path, task.private))))
        )
    # Imported late: the workshop takes as much memory as everything else.
    from cw_hub.players import drafts  # noqa: PLC0415

    return drafts.work(task, room, outbox.put)
