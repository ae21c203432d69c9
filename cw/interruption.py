"""Ctrl-C, and the signals that end a command in the same way."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from typing import Final

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C, as shells report it."""

ENDING: Final = ("SIGTERM", "SIGHUP", "SIGBREAK")


def leave_at_once() -> None:
    """Make Ctrl-C and equivalent signals end this process immediately and silently.

    Used while a command is loading: there is nothing to clean up yet, and an exception raised in
    the middle of an import would be reported as an import failure, or lost.
    """
    for number in _numbers("SIGINT", *ENDING):
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _leave)


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


def end_as_interrupted() -> None:
    """Make termination signals end this process, and everything it has started, as Ctrl-C does.

    These are SIGTERM, the end of the terminal (SIGHUP), and on Windows Ctrl-Break. Signals that the
    shell has set to be ignored, such as SIGINT for background jobs, stay ignored.
    """
    for number in _numbers(*ENDING):
        if signal.getsignal(number) in {signal.SIG_DFL, _leave}:
            signal.signal(number, _interrupt)
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if sys.platform != "win32" and ignored:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    if ignored or signal.getsignal(signal.SIGINT) is _leave:
        # asyncio shuts its tasks down cleanly only if the default handler is installed.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(*_: object) -> None:
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.raise_signal(signal.SIGINT)


def _numbers(*names: str) -> Iterator[int]:
    for name in names:
        number: int | None = getattr(signal, name, None)
        if number is not None:
            yield number
