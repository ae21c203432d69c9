"""The lines of the documents that call `cw` are taken by it, and print what stands below them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from cw import kits
from cw.cli import main
from cw.games.registry import GAMES
from tests.interpreter import write_cw
from tests.test_docs import EVERY_COMMAND, TEXTS
from tests.typed import ROOT, shape

BLOCK = re.compile(r"(?:^    [^\n]*\S\n(?:\n(?=    ))?)+|^```\w*\n.*?^```$", re.M | re.S)
CALL = re.compile(r"^(?:\w+=\S* )*(?:python -m )?cw (.*)$")
PATIENCE = 300.0


def calls(text: str) -> Iterator[str]:
    """Yield what is typed after `cw` in the blocks of a page, and between backquotes."""
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    for line in lines:
        typed = re.split(r"   |  +#", line.strip().removeprefix("$ "))[0]
        for part in re.split(r" \| | && |; ", typed):
            if (call := CALL.match(part.strip().removesuffix("&").strip())) is not None:
                yield call[1]


HELP = [str(one.help).replace("\b", "") for one in EVERY_COMMAND.values()]
CALLS = sorted({call for text in (*TEXTS.values(), *HELP) for call in calls(text)})


@pytest.mark.parametrize("call", CALLS)
def test_each_call_has_a_command_that_takes_its_options(call: str) -> None:
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


def examples() -> Iterator[Example]:
    """Yield the examples of the pages whose blocks are indented; others are typed in order."""
    for page, text in TEXTS.items():
        name = page.relative_to(ROOT).as_posix()
        for block in BLOCK.findall(text):
            if block.startswith("    $ "):
                for part in re.split(r"^    \$ ", block, flags=re.M)[1:]:
                    command, *lines = (line.strip() for line in part.splitlines())
                    yield Example(name, command, tuple(line for line in lines if line))


EXAMPLES = list(examples())

ELSEWHERE = {
    "python learn.py": "a program of its own page",
    "cw replay verify battle.json": "a file in the format of the game, forged",
}
"""What examples need that this desk does not have."""


def is_elsewhere(example: Example) -> bool:
    return any(example.command.startswith(start) for start in ELSEWHERE)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the examples take for granted: bots, and the replay of a match."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "bin").mkdir()
    write_cw(folder / "bin" / "cw", is_patient=True)
    kits.new_bot("paint", "python", folder / "paint")
    kits.new_bot("hexagon", "python", folder / "hexagon")
    (agent,) = re.findall(r"^```python\n(# agent.py\n.*?)^```", TEXTS[COMMANDS], re.M | re.S)
    (folder / "agent.py").write_text(agent, encoding="utf-8")
    for file in (folder / "paint").iterdir():
        file.rename(folder / file.name)
    typed(folder, "cw play paint a=builtin:greedy ./bot.py --seed 1 --out match.json.gz")
    return folder


COMMANDS = ROOT / "docs" / "commands.md"


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


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the lines are for a shell")
@pytest.mark.parametrize(
    "example", [one for one in EXAMPLES if not is_elsewhere(one)], ids=lambda one: one.command
)
def test_an_example_prints_what_it_shows(example: Example, desk: Path) -> None:
    printed = set(map(shape, typed(desk, example.command).splitlines()))
    assert set(map(shape, example.lines)) <= printed


def test_examples_that_are_elsewhere_are_there() -> None:
    for start in ELSEWHERE:
        assert any(example.command.startswith(start) for example in EXAMPLES), start
