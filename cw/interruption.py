"""Ctrl-C, and the signals that end a command as it does."""

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
    """Let Ctrl-C, and what ends this process as it does, end it without a word.

    For the time in which a command is loaded: nothing has to be put in order yet, and what would be
    raised in the middle of an import is shown as its failure, or lost.
    """
    for number in _numbers("SIGINT", *ENDING):
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _leave)


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


def end_as_interrupted() -> None:
    """Let what ends this process end it as Ctrl-C does: with all that it has started.

    That is SIGTERM, the end of the terminal (SIGHUP), and on Windows Ctrl-Break. What a shell has
    had us ignore, as SIGINT in its background, is ignored further.
    """
    for number in _numbers(*ENDING):
        if signal.getsignal(number) in {signal.SIG_DFL, _leave}:
            signal.signal(number, _interrupt)
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if sys.platform != "win32" and ignored:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    if ignored or signal.getsignal(signal.SIGINT) is _leave:
        # asyncio ends its tasks in order for the usual handler only.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(*_: object) -> None:
    """Do what Ctrl-C does."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.raise_signal(signal.SIGINT)


def _numbers(*names: str) -> Iterator[int]:
    """Yield those of the signals that this system has."""
    for name in names:
        number: int | None = getattr(signal, name, None)
        if number is not None:
            yield number
