"""Compiles a draft in the sandbox, once as long as it does not change.

Whoever stops that waits for the end of the compiler.
"""

from __future__ import annotations

import asyncio
from threading import Event, Lock
from typing import Final

from cachetools import LRUCache

from cw.hub.bots import builds
from cw.hub.bots.builds import Build
from cw.hub.bots.packages import UnfitUpload
from cw.workshop.building import BuildFailed
from cw.workshop.project import Project

MOST_BYTES: Final = 64 * 1024 * 1024
"""Bytes of programs that a process keeps: a hundred of usual ones, two of the largest."""


class Programs:
    """What this process has built, by language and sources: the programs that were used last."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """Keep so many bytes at most."""
        self._lock = Lock()
        self._programs = LRUCache[tuple[str, str], bytes](most, getsizeof=len)

    def find(self, language: str, digest: str) -> bytes | None:
        """Return the program that was built of sources with a digest, None where it is not here."""
        with self._lock:
            return self._programs.get((language, digest))

    def keep(self, language: str, digest: str, program: bytes) -> None:
        """Keep a program; those that were not used for the longest time make room."""
        with self._lock:
            self._programs[language, digest] = program


PROGRAMS: Final = Programs()
"""Those of this process."""


class SandboxBuilder:
    """Compiles a bot whose files do not change, unless that was done before."""

    def __init__(self, project: Project, digest: str, programs: Programs = PROGRAMS) -> None:
        """Nothing is built yet; `digest` is that of the files."""
        self._folder = project.folder.place
        self._language = project.language
        self._digest = digest
        self._programs = programs
        self._is_built = not project.how.build

    async def build(self) -> None:
        """Compile the bot, once; raise BuildFailed with what the compiler said.

        Afterwards, also when cancelled, nothing of the compiler runs.
        """
        if self._is_built:
            return
        data = self._programs.find(self._language, self._digest)
        if data is None:
            data = await self._built()
            self._programs.keep(self._language, self._digest, data)
        program = self._folder / builds.target_of(self._language)
        program.write_bytes(data)
        program.chmod(0o700)
        self._is_built = True

    async def _built(self) -> bytes:
        try:
            build = await self._compiled()
        except UnfitUpload as error:
            why, _, words = str(error).partition("\n")
            raise BuildFailed(why.rstrip("."), words) from None
        return build.data

    async def _compiled(self) -> Build:
        stopped = Event()
        compiling = asyncio.ensure_future(
            asyncio.to_thread(builds.compiled, self._folder, self._language, stopped)
        )
        try:
            return await asyncio.shield(compiling)
        except asyncio.CancelledError:
            stopped.set()
            await asyncio.wait({compiling})
            raise
