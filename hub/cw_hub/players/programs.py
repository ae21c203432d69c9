"""Programs received by a player process: unpacked, and compiled if necessary."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import IO, Final, NamedTuple, Self

from msgspec.structs import replace

from cw.arena.bots import BotSpec
from cw.arena.processes import KILL, kill_group
from cw.arena.sandbox import ProgramNeeds, Sandbox, Source
from cw.arena.sandbox.cgroups import make_temporary
from cw.arena.sandbox.folders import remove_later, remove_tree
from cw.arena.sandbox.reached_limits import UNBOUND
from cw.errors import Failure, UsageError, visible
from cw.kits import LANGUAGES, Language
from cw_hub.players import packages
from cw_hub.players.messages import Built, Program
from cw_hub.players.packages import UnfitUpload

SECONDS: Final = 60.0
"""Maximum duration of a compilation in seconds."""

LOOK: Final = 0.1
"""Seconds between two checks whether the compilation was cancelled."""

LARGEST: Final = 32 * 1024 * 1024
"""Maximum size of a built program in bytes."""

MOST_WORDS: Final = 4000
"""Maximum characters of compiler messages shown: the beginning, where the cause is."""

CUT: Final = "\n(The rest was cut.)"
TOO_LARGE: Final = (
    "The built program is larger than 32 MiB, the most that is allowed: link or embed less."
)
TOO_LATE: Final = (
    f"It could not be built: the compiler took more than {SECONDS:g} s, the most that is allowed:"
    " compile less, such as fewer or simpler templates and tables."
)

NEVER: Final = Event()
"""An event that is never set."""

STOPPED: Final = "It was stopped while it was being built."

SETTINGS: Final = {"GOCACHE": "/tmp/go", "GOTOOLCHAIN": "local", "GOFLAGS": "-ldflags=-s"}  # noqa: S108 - in the sandbox
"""Go compiles into a cache, downloads no other Go version, and omits debug information."""

JAR: Final = "bot.jar"
RUNNERS: Final = {"java": ("java", "-Xlog:disable", "-Xlog:all=warning:stderr", "-jar")}
"""The command that runs a built program, if it is not executable itself.

The options keep Java's thread warnings off standard output, which is reserved for replies.
"""


@dataclass(frozen=True, slots=True)
class Build:
    """The result of building a source."""

    data: bytes
    warnings: str
    """The compiler's messages; "" if none."""


def place_built(folder: Path, language: str, data: bytes) -> BotSpec:
    """Put a compiled program into its source's folder; return how it is run.

    Raises UnfitUpload if the source has a folder of that name.
    """
    program = folder / target_of(language)
    if program.is_dir():
        raise UnfitUpload(f"The program is built as {program.name}: rename the folder of this name")
    program.write_bytes(data)
    program.chmod(0o700)
    command = (*RUNNERS.get(language, ()), program.name)
    return BotSpec("bot", "exec", shlex.join(command), folder=str(folder.resolve()))


def target_of(language: str) -> str:
    """Return the name of the built file."""
    return JAR if language == "java" else "bot"


def compiled(folder: Path, language: str, stopped: Event = NEVER) -> Build:
    """Build a folder in the sandbox; raise UnfitUpload with the compiler's messages if it fails.

    Setting `stopped` ends the compiler.
    """
    how = LANGUAGES[language]
    if how.missing():
        raise UnfitUpload(f"{', '.join(how.missing())} is not installed where programs run.")
    # Files stay inside the sandbox, so the built program leaves it through standard output.
    line = f"{{ {how.build}; }} >&2 && exec cat {target_of(language)}"
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        try:
            code = run(["/bin/sh", "-c", line], folder, output, messages, stopped)
        except UsageError as error:
            raise UnfitUpload(str(error)) from None
        if code:
            raise UnfitUpload(failure(how, beginning(messages), code))
        return Build(result(output), beginning(messages).strip())


def run(
    command: list[str],
    folder: Path,
    output: IO[bytes],
    messages: IO[bytes],
    stopped: Event = NEVER,
) -> int:
    """Run a command in the sandbox, in a copy of a folder; return its exit code.

    None of its processes outlives the call. Raises UnfitUpload if it takes too long, or is stopped.
    """
    needs = ProgramNeeds(settings=SETTINGS)
    with (
        Sandbox("require").prepare(command, Source(folder), needs) as launch,
        subprocess.Popen(
            launch.argv,
            env=launch.env,
            cwd=launch.cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=messages,
            start_new_session=True,
        ) as process,
    ):
        try:
            return finished(process, stopped)
        finally:
            if process.returncode is None:
                kill_group(process.pid, KILL)


def finished(process: subprocess.Popen[bytes], stopped: Event) -> int:
    """Return the exit code of a process; raise UnfitUpload if it takes too long, or is stopped."""
    until = monotonic() + SECONDS
    while monotonic() < until:
        try:
            return process.wait(LOOK)
        except subprocess.TimeoutExpired:
            if stopped.is_set():
                raise UnfitUpload(STOPPED) from None
    raise UnfitUpload(TOO_LATE)


def failure(how: Language, words: str, code: int) -> str:
    """Return the message for a failed build, with the limit that was reached and the output."""
    limit = UNBOUND.met([words], code)
    why = f"`{how.build}` failed{f'; {limit}' if limit else ''}"
    return f"It could not be built: {why}.\n{words}".rstrip()


def beginning(messages: IO[bytes]) -> str:
    """Return the beginning of a compiler's messages, with control characters made harmless."""
    messages.seek(0)
    text = visible(messages.read(4 * MOST_WORDS + 1).decode(errors="replace"))
    return text if len(text) <= MOST_WORDS else text[:MOST_WORDS] + CUT


def result(output: IO[bytes]) -> bytes:
    """Return the built program; raise UnfitUpload if it is too large."""
    output.seek(0)
    data = output.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UnfitUpload(TOO_LARGE)
    return data


PYTHON: Final = "{python}"
"""Placeholder in a program's command for the Python that runs this process."""


class Arrived(NamedTuple):
    """An unpacked program."""

    folder: Path
    bot: BotSpec | None
    """How it is run, with files named as in its zip; None to derive it from its files."""
    command: BotSpec | None
    """How it is run, if it was compiled before."""
    problem: str
    """Why it cannot be run, or ""."""


class Room:
    """A folder with the programs that take part in a task, removed at the end of the block.

    `on_built` is called with each program compiled here.
    """

    def __init__(self, on_built: Callable[[Built], object]) -> None:
        """Create the folder."""
        self._on_built = on_built
        self._home = make_temporary("upload")
        self._arrived: dict[str, Arrived] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder, later if necessary."""
        remove_later(partial(remove_tree, self._home))

    def folder(self, name: str) -> Path:
        """Return the folder of a program that was added."""
        return self._arrived[name].folder

    def add(self, program: Program) -> None:
        """Unpack a program into a folder of its own."""
        folder = self._home / str(len(self._arrived))
        folder.mkdir()
        command, problem = None, ""
        try:
            if program.source:
                packages.unpack(program.source, folder, program.bounds)
            language = language_in(folder)
            if program.built is not None and language:
                command = place_built(folder, language, program.built)
        except UnfitUpload as error:
            problem = str(error)
        self._arrived[program.name] = Arrived(folder, program.bot, command, problem)

    def bots(self, game: str) -> dict[str, BotSpec]:
        """Return the bots of all programs by name; those that cannot be run are absent.

        Raises Failure if programs sent by a championship cannot be sandboxed here.
        """
        return {name: self.bot(name, game) for name in self._arrived}

    def has(self, name: str) -> bool:
        """Return whether a program was added."""
        return name in self._arrived

    def bot(self, name: str, game: str) -> BotSpec:
        """Return the bot of one program, as `bots` does."""
        arrived = self._arrived[name]
        if arrived.bot is not None:
            refuse_without_sandbox()
            return placed(arrived.bot, arrived.folder)
        if arrived.problem:
            return BotSpec(name, "absent", arrived.problem)
        try:
            bot = arrived.command or self._runnable(name, arrived.folder, game)
        except UnfitUpload as error:
            return BotSpec(name, "absent", str(error))
        return replace(bot, name=name, settings={**bot.settings, "username": name})

    def _runnable(self, name: str, folder: Path, game: str) -> BotSpec:
        language = language_in(folder)
        if not language:
            return packages.program_in(folder, game)
        build = compiled(folder, language)
        bot = place_built(folder, language, build.data)
        self._on_built(Built(name, build.data, build.warnings))
        return bot


def language_in(folder: Path) -> str:
    """Return the language that a folder has to be compiled from; "" if it runs as it is."""
    return packages.compiled_language([file.name for file in folder.iterdir()])


def refuse_without_sandbox() -> None:
    """Raise Failure if bubblewrap is missing here, as another host may have it."""
    try:
        Sandbox("require").problem()
    except UsageError as error:
        raise Failure(str(error)) from None


def placed(bot: BotSpec, folder: Path) -> BotSpec:
    """Return a received program with its files in a folder on this host.

    Raises UsageError if it names a file elsewhere.
    """
    target = bot.target
    if bot.kind == "exec":
        target = shlex.join(sys.executable if part == PYTHON else part for part in bot.command)
    return replace(bot, target=target, folder=str(folder.resolve()))
