"""The lines of documents that call `cw`, and what stands below them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import click

from cw.cli import main
from cw.games.registry import GAMES
from tests.typed import ROOT

BLOCK = re.compile(r"(?:^    [^\n]*\S\n(?:\n(?=    ))?)+|^```\w*\n.*?^```$", re.M | re.S)
CALL = re.compile(r"^(?:\w+=\S* )*(?:python -m )?cw (.*)$")
PATIENCE = 300.0


def calls_in(texts: Iterable[str]) -> list[str]:
    """Return what is typed after `cw` in texts, each call once."""
    return sorted({call for text in texts for call in calls(text)})


def calls(text: str) -> Iterator[str]:
    """Yield what is typed after `cw` in the blocks of a page, and between backquotes."""
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    for line in lines:
        typed = re.split(r"   |  +#", line.strip().removeprefix("$ "))[0]
        for part in re.split(r" \| | && |; ", typed):
            if (call := CALL.match(part.strip().removesuffix("&").strip())) is not None:
                yield call[1]


def is_of_the_hub(call: str) -> bool:
    """Return whether a call is one of a command that another package has."""
    return call.split(maxsplit=1)[0] == "hub"


def try_options(call: str) -> None:
    """Find the command of a call; raise UsageError if it does not take the options."""
    command: click.Command = main
    words = shlex.split(call.replace("...", ""))
    context = click.Context(main, info_name="cw")
    while isinstance(command, click.Group):
        _, words, _ = command.make_parser(context).parse_args(words)
        if not words or words[0].isupper():
            return
        if command.name == "bots" and words[0] in GAMES:
            words = ["list", *words]
        child = command.get_command(context, words[0])
        assert child is not None, words[0]
        command, words = child, words[1:]
        context = click.Context(command, parent=context, info_name=command.name)
    # Sentences name options without their values.
    with suppress(click.BadOptionUsage):
        command.make_parser(context).parse_args(words)


class Example(NamedTuple):
    """What a page types after a prompt, and the lines that it shows below."""

    page: str
    command: str
    lines: tuple[str, ...]


def examples(texts: Mapping[Path, str]) -> Iterator[Example]:
    """Yield the examples of the pages whose blocks are indented; others are typed in order."""
    for page, text in texts.items():
        name = page.relative_to(ROOT).as_posix()
        for block in BLOCK.findall(text):
            if block.startswith("    $ "):
                for part in re.split(r"^    \$ ", block, flags=re.M)[1:]:
                    command, *lines = (line.strip() for line in part.splitlines())
                    yield Example(name, command, tuple(line for line in lines if line))


def typed(folder: Path, command: str) -> str:
    """Type a command in a folder; return what it prints."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
