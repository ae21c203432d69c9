"""Compiles a draft in the sandbox; whoever stops that waits for the end of the compiler."""

from __future__ import annotations

import asyncio
from threading import Event

from cw.hub.bots import builds
from cw.hub.bots.builds import Build
from cw.hub.bots.packages import UnfitUpload
from cw.workshop.building import BuildFailed
from cw.workshop.project import Project


class SandboxBuilder:
    """Compiles a bot whose files do not change."""

    def __init__(self, project: Project) -> None:
        """Nothing is built yet."""
        self._folder = project.folder.place
        self._language = project.language
        self._is_built = not project.how.build

    async def build(self) -> None:
        """Compile the bot, once; raise BuildFailed with what the compiler said.

        Afterwards, also when cancelled, nothing of the compiler runs.
        """
        if self._is_built:
            return
        try:
            build = await self._compiled()
        except UnfitUpload as error:
            why, _, words = str(error).partition("\n")
            raise BuildFailed(why.rstrip("."), words) from None
        program = self._folder / builds.target_of(self._language)
        program.write_bytes(build.data)
        program.chmod(0o700)
        self._is_built = True

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
