"""A fault's message on one line, without the error output that it quotes."""

from __future__ import annotations

from cw.arena.program import ERROR_OUTPUT


def on_one_line(detail: str) -> str:
    r"""Return a fault's message, adding the last line of the error output if no exception is named.

    >>> on_one_line("exit code 1; the end of its error output: import numpy\nno module numpy\n")
    'exit code 1: no module numpy'
    >>> on_one_line("KeyError: 3 (bot.py, line 7); the end of its error output: KeyError: 3")
    'KeyError: 3 (bot.py, line 7)'
    """
    sentence, _, output = detail.partition(ERROR_OUTPUT)
    last = output.strip().rpartition("\n")[2]
    return sentence if last in sentence else f"{sentence}: {last}"
