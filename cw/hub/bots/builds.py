"""Programs in languages that are compiled: once, in the sandbox; what came of it is kept."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import IO, Final

from cw.arena.bots import BotSpec
from cw.arena.processes import KILL, kill_group
from cw.arena.sandbox import ProgramNeeds, Sandbox, Source
from cw.arena.sandbox.bounds import UNBOUND
from cw.errors import UsageError
from cw.games.rules import Json
from cw.hub.bots.packages import UnfitUpload
from cw.hub.store.objects import ObjectStore
from cw.kits import LANGUAGES, Language
from cw.visible import visible

SUFFIX: Final = ".built"
"""Ends the key of what was built; before it stands that of its source."""

WARNINGS: Final = ".warnings"
"""Ends the key of what the compiler said of a program that it built."""

STEP: Final = "builds without a warning"
"""The step of a check by which an author is told what the compiler said."""

ADVICE: Final = "the program plays: read what the compiler says, and fix it in the next version"

SECONDS: Final = 60.0
"""The longest that a compiler may take."""

LOOK: Final = 0.1
"""Seconds between two looks whether somebody has stopped it."""

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of what is built."""

MOST_WORDS: Final = 4000
"""Characters of a compiler's messages that are shown: their beginning, where the cause stands."""

CUT: Final = "\n(The rest was cut.)"
TOO_LARGE: Final = (
    "The built program is larger than 32 MiB, the most that is allowed: link or embed less."
)
TOO_LATE: Final = (
    f"It could not be built: the compiler took more than {SECONDS:g} s, the most that is allowed:"
    " compile less, such as fewer or simpler templates and tables."
)

NEVER: Final = Event()
"""What nobody sets."""

STOPPED: Final = "It was stopped while it was being built."

SETTINGS: Final = {"GOCACHE": "/tmp/go", "GOTOOLCHAIN": "local", "GOFLAGS": "-ldflags=-s"}  # noqa: S108 - in the sandbox
"""Go compiles into a cache, fetches no other Go, and leaves out what debuggers read."""

JAR: Final = "bot.jar"
RUNNERS: Final = {"java": ("java", "-Xlog:disable", "-Xlog:all=warning:stderr", "-jar")}
"""What runs that which was built, where it does not run by itself.

Java would warn of threads that it cannot start on standard output, which belongs to answers.
"""


@dataclass(frozen=True, slots=True)
class Build:
    """What was built of a source."""

    data: bytes
    warnings: str
    """What the compiler said of it; "" for nothing."""


def add_built(objects: ObjectStore, key: str, folder: Path, language: str) -> BotSpec:
    """Put what was built of a source into its folder, and return the program.

    `key` is that of the source. It is built here and now unless that was done. Raises UnfitUpload
    with what the compiler said.
    """
    data = objects.get(key + SUFFIX)
    if data is None:
        build = compiled(folder, language)
        data = build.data
        # First: where there is a build, there is all that was said of it.
        objects.put_new(key + WARNINGS, build.warnings.encode())
        objects.put_new(key + SUFFIX, data)
    program = folder / target_of(language)
    program.write_bytes(data)
    program.chmod(0o700)
    command = (*RUNNERS.get(language, ()), str(program))
    return BotSpec("bot", "exec", shlex.join(command))


def target_of(language: str) -> str:
    """Return the name of the file that is built."""
    return JAR if language == "java" else "bot"


def warning_steps(objects: ObjectStore, key: str) -> list[dict[str, Json]]:
    """Return the step of a check that tells what the compiler said of the source with a key.

    None where it said nothing, and where nothing has to be built.
    """
    warnings = (objects.get(key + WARNINGS) or b"").decode()
    step = {"step": STEP, "ok": False, "problem": warnings, "fix": ADVICE, "warning": True}
    return [step] if warnings else []


def source_key(key: str) -> str:
    """Return the key of the source that a key belongs to: its own, or that of what came of it."""
    return key.removesuffix(SUFFIX).removesuffix(WARNINGS)


def compiled(folder: Path, language: str, stopped: Event = NEVER) -> Build:
    """Return what is built of a folder, in the sandbox; raise UnfitUpload with what was said.

    Whoever sets `stopped` ends the compiler.
    """
    how = LANGUAGES[language]
    if how.missing():
        raise UnfitUpload(f"{', '.join(how.missing())} is not installed where programs run.")
    # The walls keep files inside: what was built comes out by the standard output.
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

    Afterwards nothing of it runs. Raises UnfitUpload if it takes too long, or is stopped.
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
    """Return that a program could not be built, with the limit that was met, and the messages."""
    limit = UNBOUND.met([words], code)
    why = f"`{how.build}` failed{f'; {limit}' if limit else ''}"
    return f"It could not be built: {why}.\n{words}".rstrip()


def beginning(messages: IO[bytes]) -> str:
    """Return the beginning of what a compiler said, which nothing obeys."""
    messages.seek(0)
    text = visible(messages.read(4 * MOST_WORDS + 1).decode(errors="replace"))
    return text if len(text) <= MOST_WORDS else text[:MOST_WORDS] + CUT


def result(output: IO[bytes]) -> bytes:
    """Return what was built; raise UnfitUpload for too much."""
    output.seek(0)
    data = output.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UnfitUpload(TOO_LARGE)
    return data
