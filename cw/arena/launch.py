"""Starts a bot's program in the sandbox, with the files and settings that it may see."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from cw.arena.bot_folders import has_file
from cw.arena.bots import BotSpec
from cw.arena.sandbox import BUBBLEWRAP, PLAIN, Launch, ProgramNeeds, Sandbox, Source
from cw.arena.sandbox.bubblewrap import installation
from cw.arena.sandbox.cgroups import temporary_folder
from cw.arena.transports.stdio import StdioBot
from cw.errors import UnfitProgram
from cw.games.rules import Fault

ROOT: Final = Path(__file__).resolve().parents[2]
"""The root of the package: a checkout, or Python's folder of installed packages."""


def source_of(bot: BotSpec, others: Sequence[BotSpec] = ()) -> Source:
    """Return the files for a bot's program: its folder, except what belongs to the `others`.

    Excluded are the files that their commands name, and their folders if they are inside the bot's
    folder. Some folders belong to no bot: if the bot's folder is, or contains, the home folder, the
    temporary folder or this package, the bot gets only the files that its command names.
    """
    folder = program_folder(bot)
    if folder is None:
        return Source()
    files = tuple(named_files(bot, folder))
    nobodys = (Path.home(), temporary_folder(), ROOT)
    if any(place.resolve().is_relative_to(folder) for place in nobodys):
        return Source(folder, only=files, of_others=bool(bot.folder))
    foreign = {path for other in others for path in _belongings(other, folder)}
    return Source(folder, without=frozenset(foreign - set(files)), of_others=bool(bot.folder))


def _belongings(bot: BotSpec, folder: Path) -> Iterator[Path]:
    """Yield the paths within a folder that belong to another bot."""
    other = program_folder(bot)
    if other is not None and other != folder and other.is_relative_to(folder):
        yield other
    yield from named_files(bot, folder)


def program_folder(bot: BotSpec) -> Path | None:
    """Return the folder of a bot's program; None if it is not a program, or names no file.

    An untrusted program's folder is the one that was uploaded with it. Otherwise it is the folder
    of the first file that the command names. Programs on the search path and in virtual
    environments do not count; those in any folder `bin`, and the command itself, only if there is
    nothing else.
    """
    if bot.folder:
        return Path(bot.folder)
    named_paths = map(Path, named(bot))
    files = [file for file in named_paths if not on_search_path(file) and not is_installed(file)]
    programs = [file for file in files if file.absolute().parent.name != "bin"] or files
    return programs[0].resolve().parent if programs else None


def named(bot: BotSpec) -> list[str]:
    """Return the files that a bot names, the program of its command last."""
    if bot.folder:
        folder = Path(bot.folder)
        return [str(folder / part) for part in bot.files_or_words if has_file(folder, part)]
    if bot.kind == "python":
        return bot.files_or_words
    program, *arguments = bot.files_or_words or [""]
    # Unlike Path.is_file, os.path.isfile accepts arguments of any length.
    return [part for part in (*arguments, program) if os.path.isfile(part)]  # noqa: PTH113


def named_files(bot: BotSpec, folder: Path) -> Iterator[Path]:
    """Yield the absolute paths of the files in a folder that a bot names."""
    for file in map(Path, named(bot)):
        if file.resolve().is_relative_to(folder):
            yield file.resolve()


def is_installed(file: Path) -> bool:
    """Return whether a file is in our own Python installation or any virtual environment."""
    prefix = file.absolute().parent.parent
    return prefix in map(Path, (sys.prefix, sys.base_prefix)) or (prefix / "pyvenv.cfg").is_file()


def on_search_path(file: Path) -> bool:
    """Return whether a file is a program in a folder of PATH."""
    folders = [Path(folder).resolve() for folder in os.get_exec_path()]
    return os.access(file, os.X_OK) and file.parent.resolve() in folders


def anchored(part: str, source: Source) -> str:
    """Return the absolute path of a file in the bot's folder that a part of its command names.

    Untrusted bots name files relative to their folder, users relative to our working directory. The
    bot runs in a copy of its folder, where the relative path would mean something else.
    """
    if source.folder is None:
        return part
    if source.of_others:
        return str(source.folder / part) if has_file(source.folder, part) else part
    # Unlike Path.is_file, os.path.isfile accepts arguments of any length.
    if Path(part).name == part or not os.path.isfile(part):  # noqa: PTH113
        return part
    file = Path(part).resolve()
    return str(file) if file.is_relative_to(source.folder) else part


LOG: Final = logging.getLogger(__name__)

VARIABLES: Final = {"secret": "BOT_SECRET", "api_key": "API_KEY", "username": "BOT_USERNAME"}

OWN_VARIABLE: Final = "BOT_SET_"
"""Prefix of the environment variables for a program's own settings: `depth` is BOT_SET_DEPTH."""

T = TypeVar("T")


def warn_of(bot: BotSpec, protection: str) -> None:
    """Log a warning if a program starts without isolation; the default of `LaunchPolicy.tell`."""
    if not protection.startswith(BUBBLEWRAP):
        LOG.warning("%s: %s", bot.name, protection)


@dataclass(frozen=True, slots=True)
class LaunchPolicy:
    """How programs are started."""

    sandbox: Sandbox = field(default_factory=Sandbox)
    tell: Callable[[BotSpec, str], None] = warn_of
    """Called with each bot and the protection that its program runs under."""
    bots: Sequence[BotSpec] = ()
    """All bots of the match: no program can see another one's files."""

    def source(self, bot: BotSpec) -> Source:
        """Return what a bot's program gets a copy of."""
        return source_of(bot, [other for other in self.bots if other.name != bot.name])


async def launch(
    bot: BotSpec,
    command: Sequence[str],
    policy: LaunchPolicy,
    stack: ExitStack,
    needs: ProgramNeeds = PLAIN,
) -> StdioBot | Fault:
    """Start a program in a sandbox that exists until the stack is closed.

    `command` is the bot's own, or one that runs it. Returns the fault `startup` if the program
    cannot be started. Raises UsageError for a policy that cannot be enforced.
    """
    prepared = await prepare(bot, command, policy, stack, needs)
    return prepared if isinstance(prepared, Fault) else await start(prepared)


async def prepare(
    bot: BotSpec,
    command: Sequence[str],
    policy: LaunchPolicy,
    stack: ExitStack,
    needs: ProgramNeeds = PLAIN,
) -> Launch | Fault:
    """Prepare to start a program, and report the protection it runs under (see `launch`)."""
    source = policy.source(bot)
    bot_needs = replace(
        needs,
        settings={**environment(bot), **needs.settings},
        readable=[*needs.readable, *(ourselves() if runs_cw(command) else [])],
    )
    # The class runner already names its file by absolute path.
    parts = [anchored(part, source) for part in command] if bot.kind == "exec" else command
    launching = policy.sandbox.prepare(parts, source, bot_needs)
    try:
        prepared = await in_thread(partial(stack.enter_context, launching))
    except UnfitProgram as error:
        return Fault("startup", str(error))
    policy.tell(bot, f"{prepared.protection}{alone(source)}")
    return prepared


def alone(source: Source) -> str:
    """Return a note about a program that gets only part of its folder; "" otherwise."""
    if not source.only:
        return ""
    named = " and ".join(file.name for file in source.only)
    return f"; it sees only {named}: to show it more of {source.folder}, give it its own folder"


async def start(prepared: Launch) -> StdioBot | Fault:
    """Start a prepared program; return the fault `startup` if it cannot be started."""
    started = await StdioBot.start(
        prepared.argv,
        env=prepared.env,
        cwd=prepared.cwd,
        pass_fds=prepared.pass_fds,
        bounds=prepared.bounds,
    )
    for inherited in prepared.inherited:
        inherited.close()
    return started


async def in_thread(work: Callable[[], T]) -> T:
    """Return the result of `work`, called in a thread; if cancelled, wait for it first."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise


def runs_cw(command: Sequence[str]) -> bool:
    """Return whether a command runs `cw` itself, which must be able to read the checkout."""
    return list(command[1:3]) == ["-m", "cw"] or Path(command[0]).stem == "cw"


def ourselves() -> list[Path]:
    """Return the paths of our package and our Python installation."""
    return [ROOT / "cw", *installation(Path(sys.executable))]


def with_secrets(bot: BotSpec) -> BotSpec:
    """Generate the secrets of a program that we start, unless they are set."""
    if bot.kind != "exec":
        return bot
    drawn = {"secret": secrets.token_hex(32), "api_key": secrets.token_hex(16)}
    return bot.with_settings({**drawn, **bot.settings})


def environment(bot: BotSpec) -> dict[str, str]:
    """Return the environment variables that carry a program's settings."""
    variables = {VARIABLES[key]: value for key, value in bot.settings.items() if key in VARIABLES}
    own = {f"{OWN_VARIABLE}{key.upper()}": value for key, value in bot.own_settings.items()}
    return {"BOT_USERNAME": bot.username, **variables, **own}
