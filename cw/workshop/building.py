"""Compiles a bot if its language needs that: once for each change of its files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, Protocol

from cw.arena.processes import KILL, OWN_GROUP, kill_group
from cw.errors import Failure
from cw.workshop.folder import TextFile
from cw.workshop.project import Project

SECONDS: Final = 60.0
"""Time limit of a compiler, in seconds."""

MOST_OUTPUT: Final = 64 * 1024
"""Bytes of compiler output to read."""


class BuildFailed(Failure):
    """A compilation that failed."""

    def __init__(self, why: str, output: str) -> None:
        """Store the compiler's output."""
        super().__init__(why)
        self.output = output


class Builder(Protocol):
    """Compiles one bot."""

    async def build(self) -> None:
        """Compile the bot if necessary; raise BuildFailed with the compiler's output.

        Leaves no compiler process running, even when cancelled.
        """


class FolderBuilder:
    """Compiles a bot in its folder, as its author would by hand."""

    def __init__(self, project: Project) -> None:
        """Start with nothing built."""
        self._project = project
        self._built = ""

    async def build(self) -> None:
        """Compile the bot if its files changed; raise BuildFailed with the compiler's output."""
        command = self._project.how.build
        digest = digest_of(self._project.folder.files())
        if not command or digest == self._built:
            return
        missing = self._project.how.missing()
        if missing:
            packages = self._project.how.packages
            raise BuildFailed(f"{', '.join(missing)} is not installed: apt install {packages}", "")
        await self._compile(command)
        self._built = digest

    async def _compile(self, command: str) -> None:
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=self._project.folder.place,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            **OWN_GROUP,
        )
        try:
            async with asyncio.timeout(SECONDS):
                output = await read_some(process.stdout)
                code = await process.wait()
        except TimeoutError:
            raise BuildFailed(f"the compiler took more than {SECONDS:g} s", "") from None
        finally:
            if process.returncode is None:
                kill_group(process.pid, KILL)
                await process.wait()
        if code:
            raise BuildFailed(f"it could not be built: `{command}` failed", output)


async def read_some(stream: asyncio.StreamReader | None) -> str:
    """Return the beginning of a stream, but read it to its end."""
    output = b""
    while stream is not None and (data := await stream.read(MOST_OUTPUT)):
        output += data[: MOST_OUTPUT - len(output)]
    return output.decode(errors="replace")


def digest_of(files: Sequence[TextFile]) -> str:
    """Return a digest that changes whenever one of the files does."""
    return sha256("".join(f"{file.name}\0{file.digest}\0" for file in files).encode()).hexdigest()
