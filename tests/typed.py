"""What a page tells its reader to type, typed as it stands into a terminal of its own."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.interpreter import write_cw
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
FILES = {"python": "bot.py"}
PORTS = ("5000", "8080", "8801", "3000")
"""The ports that the page names; each is exchanged for a free one, as it may be taken."""

PATIENCE = 300.0
"""Seconds after which a command that says nothing has failed."""

ATTEMPTS = 5


@dataclass(frozen=True)
class Typed:
    """A command, and the lines that the page shows below it."""

    command: str
    output: tuple[str, ...]


def parts(page: str) -> dict[str, str]:
    """Return the sections of a page, a path from the root, by their titles."""
    titles = re.split(r"^## (.+)$", (ROOT / page).read_text(encoding="utf-8"), flags=re.M)[1:]
    return dict(zip(titles[::2], titles[1::2], strict=True))


def typed(part: str) -> Iterator[Typed]:
    """Return what is typed in a part, in order; a program is a command that writes its file."""
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", part, re.M | re.S):
        if language in FILES:
            yield Typed(f"cat > {FILES[language]} <<'END OF FILE'\n{text}END OF FILE", ())
        else:
            assert language == "console"
            assert text.startswith("$ ")
            for block in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, *output = block.splitlines()
                yield Typed(command, tuple(line for line in output if line != "..."))


def shape(line: str) -> str:
    """Return a line without its figures and gaps: those differ from match to match."""
    return " ".join(re.sub(r"\d+(\.\d+)?", "#", line).split())


class Terminal:
    """A shell that is typed into."""

    def __init__(self, folder: Path, port: int) -> None:
        """Start it."""
        self.folder = folder
        self.port = str(port)
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=self.environment(folder.parent),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            encoding="utf-8",
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        self.number = 0

    def environment(self, home: Path) -> dict[str, str]:
        """Return what a new terminal has, with the free port for servers and their clients."""
        variables = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        server = {"PORT": self.port, "CW_SERVER": f"http://127.0.0.1:{self.port}"}
        return {**variables, **server, "HOME": str(home), "DEMO": "--fast --port 0"}

    def read(self) -> None:
        """Pass on what is printed, line by line; None at the end."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def type(self, one: Typed) -> list[str]:
        """Type a command, wait until it is done, and check it; give what was printed.

        The limits of the games are short for a busy machine: what was late may try again.
        """
        for _ in range(ATTEMPTS):
            code, printed = self.run(one)
            if code == 0 or not any("timeout: " in line for line in printed):
                break
        assert code == 0, (one.command, printed)
        missing = self.wanted(one) - set(map(shape, printed))
        assert not missing, (one.command, missing, printed)
        return printed

    def run(self, one: Typed) -> tuple[int, list[str]]:
        """Type a command; give its exit code and what was printed until it was done.

        What runs in the background has said its first words then.
        """
        self.number += 1
        mark = f"@@ {self.number} "
        command = self.with_free_port(one.command)
        assert self.process.stdin is not None
        self.process.stdin.write(f"{{\n{command}\n}} </dev/null\ncode=$?; echo; echo {mark}$code\n")
        self.process.stdin.flush()
        awaited = self.wanted(one) if command.endswith("&") else set()
        printed: list[str] = []
        code = None
        while code is None or awaited:
            try:
                line = self.lines.get(timeout=PATIENCE)
            except queue.Empty:
                line = None
            assert line is not None, (command, awaited, printed)
            if line.startswith(mark):
                code = int(line.removeprefix(mark))
            printed.append(line)
            awaited.discard(shape(line))
        return code, printed

    def wanted(self, one: Typed) -> set[str]:
        """Return the lines that the page shows, as they are compared."""
        return {shape(self.with_free_port(line)) for line in one.output}

    def with_free_port(self, text: str) -> str:
        """Exchange the port that a text names."""
        return re.sub(rf"\b({'|'.join(PORTS)})\b", self.port, text)

    def close(self) -> None:
        """End the shell and all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


def checkout(tmp_path: Path) -> Path:
    """Return the folder of a checkout for which the packages have been fetched."""
    folder = tmp_path / "circuit-wars"
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.name not in (".git", ".venv"):
            (folder / path.name).symlink_to(path)
    set_up(folder / ".venv")
    return folder


@contextmanager
def opened_terminal(tmp_path: Path) -> Iterator[Terminal]:
    """Return a terminal in a checkout for which the packages have been fetched.

    The limits of the games are short for a busy machine: no bot of `cw` exceeds those here.
    """
    folder = checkout(tmp_path)
    programs = folder / ".venv" / "bin"
    write_cw(programs / "cw", programs / "python", is_patient=True)
    terminal = Terminal(folder, free_port())
    try:
        yield terminal
    finally:
        terminal.close()


def set_up(folder: Path) -> None:
    """Make the environment that `make demo` would make, from the packages that are here."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/*/site-packages")
    here = [str(ROOT), *filter(os.path.isdir, sys.path)]
    (packages / "here.pth").write_text("\n".join(here), encoding="utf-8")
    write_cw(folder / "bin" / "cw", folder / "bin" / "python")
    # All at once: none is older than another that it is made from.
    now = time.time()
    for name in re.findall(r"\$\(VENV\)/(\w+-ready)$", (ROOT / "Makefile").read_text(), re.M):
        (folder / name).touch()
        os.utime(folder / name, (now, now))
