"""Ways to spell the name of a file that lies outside of a program's folder."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from random import Random

UP = "../" * 24
COLON = f"/sys/dev/char/1:3/{UP}"
"""Leads to the root through a name with a colon, which every Linux has."""

LOOKALIKES = {"/": "\u2215\uff0f\u29f8", ".": "\u2024\uff0e\u3002", ":": "\ua789\uff1a\u2236"}
"""Characters that look like those which mean something in a path."""

BEFORE = (" ", "\t", "\u200b", "\ufeff", "-", "@", "a:", "A=1 ")
BEHIND = (" ", "/", "/.", ":", ":Bot", "#", "%00", "\n")


def paths_to(file: Path, folder: Path) -> Iterator[str]:
    """Return paths that lead to a file, or once may have, from a folder or from anywhere."""
    there = str(file).lstrip("/")
    relative = os.path.relpath(file, folder)
    yield from (str(file), f"//{there}", f"/./{there}", f"/{UP}{there}", f"{UP}{there}")
    yield from (relative, f"./{relative}", f"sub/../{relative}", f"sub/./../{relative}")
    yield from (f"{COLON}{there}", f"{COLON}proc/self/cwd/{os.path.relpath(file)}")
    yield from (f"/proc/self/cwd/{os.path.relpath(file)}", f"/proc/self/root/{there}")
    yield from (f"/proc/{os.getpid()}/root/{there}", f"/proc/thread-self/root/{there}")
    yield from (f"/proc/self/fd/0/{UP}{there}", f"/dev/fd/0/{UP}{there}", f"/dev/../{there}")
    yield from ("link", "./link", "sub/link", "linked/secret", ".hidden/link", "sub/../link")
    yield from (f"~/{os.path.relpath(file, Path.home())}", f"$HOME/{there}", f"${{PWD}}/{relative}")
    yield from (f"bot.py\0{file}", f"{file}\0", f"bot.py:{file}")
    yield from (f"{file}:", f":{file}", f"{file}::")
    yield from (f"C:{file}", f"\\\\?\\{file}", relative.replace("/", "\\"), f"file://{file}")
    yield from (f"{'x' * 300}/../{relative}", f"{'./' * 3000}{relative}", f"{UP * 40}{there}")


def disguised(path: str, draw: Random) -> str:
    """Return a path with some of its characters replaced, doubled, or put before it."""
    way = draw.randrange(6)
    if way == 0:
        sign = draw.choice(list(LOOKALIKES))
        return path.replace(sign, draw.choice(LOOKALIKES[sign]), draw.choice((1, -1)))
    if way == 1:
        return path.replace("/", draw.choice(("//", "/./", "///")), draw.choice((1, 3)))
    if way == 2:
        return draw.choice(BEFORE) + path
    if way == 3:
        return path + draw.choice(BEHIND)
    return path


def quoted(path: str, draw: Random) -> str:
    """Return a path as a part of a command, in one of the ways of a shell."""
    escaped = "".join(f"\\{sign}" for sign in path)
    ways = (shlex.quote(path), path, f'"{path}"', f"''{path}", escaped, f"{path[:3]}''{path[3:]}")
    return draw.choice(ways)


def declarations(file: Path, folder: Path, draw: Random) -> Iterator[str]:
    """Return without end what a team.toml may say to have that file opened, copied, run or read."""
    paths = list(paths_to(file, folder))
    while True:
        path = disguised(draw.choice(paths), draw)
        part = quoted(path, draw)
        key, value = draw.choice(
            (
                ("bot", f"python:{path}:Bot"),
                ("bot", f"python:{path}"),
                ("bot", f"python:bot.py:{path}:Bot"),
                ("bot", path),
                ("bot", f"exec:python3 {part}"),
                ("run", f"cat {part}"),
                ("run", f"python3 -u {part}"),
                ("run", f"sh -c 'cat * .* */* >&2; cat \"$0\" >&2' {part}"),
                ("run", f"env X={part} sh bot.sh {part}"),
                ("run", part),
                ("run", f"python3 bot.py --read={part}"),
            )
        )
        yield f"{key} = {json.dumps(value)}\n"
