"""Parsing of bot arguments: a bot's kind, target, name and settings."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import dropwhile
from pathlib import Path, PureWindowsPath
from tempfile import gettempdir
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from cw.arena.bot_folders import (
    program,
    program_of_others,
    refuse_links,
    refuse_missing,
    refuse_outside,
)
from cw.arena.transports.base_address import check_base
from cw.errors import UsageError, short
from cw.games.rules import Fault

LONGEST_NAME: Final = 64
UNFIT: Final = re.compile(r"[^A-Za-z0-9_.-]+")
"""Characters not allowed in bot names."""

UNFIT_IN_ADDRESSES: Final = re.compile(r"[^A-Za-z0-9_.:\[\]-]+")
"""Characters not allowed in the names of web services."""

SETS_VARIABLES: Final = re.compile(r"(.*/)?env|\w+=.*", re.DOTALL)
"""Matches the parts of a command before the program that set environment variables for it."""

PROGRAMS: Final = frozenset({".py", ".js", ".mjs", ".php", ".rb", ".sh", ".java", ".jar"})
"""Extensions of files that an interpreter runs."""


def fitting(name: str, *, address: bool = False) -> str:
    """Return a name reduced to allowed characters, at most 64 of them."""
    unfit = UNFIT_IN_ADDRESSES if address else UNFIT
    return unfit.sub("-", name)[:LONGEST_NAME].strip("-.") or "bot"


def named_after_file(path: str) -> str:
    """Return the name of a file without its folders."""
    # PureWindowsPath accepts both kinds of slashes.
    return PureWindowsPath(path).name


def named_after_command(command: Sequence[str]) -> str:
    """Return the name of the program that a command runs: `bot.js` for `node bot.js`."""
    files = [part for part in command if PureWindowsPath(part).suffix in PROGRAMS]
    programs = dropwhile(SETS_VARIABLES.fullmatch, command)
    return named_after_file(files[0] if files else next(programs, command[0]))


def named_after_address(address: str) -> str:
    """Return the host and port of a URL."""
    return urlsplit(address).netloc


def numbered(names: Sequence[str], reserved: Collection[str] = ()) -> list[str]:
    """Return the names, numbered where several are equal or one is reserved.

    The result has no duplicates and nothing from `reserved`.

    >>> numbered(["greedy", "greedy", "bot.py"], reserved=["bot.py"])
    ['greedy-1', 'greedy-2', 'bot.py-2']
    """
    unique: list[str] = []
    for position, name in enumerate(names):
        if names.count(name) == 1 and name not in reserved:
            unique.append(name)
        else:
            used = {*reserved, *names, *unique}
            first = names[:position].count(name) + 1 + (name in reserved)
            unique.append(free_name(name, first, used))
    return unique


def free_name(name: str, number: int, used: Collection[str]) -> str:
    """Return the name with this number appended, or with the next unused number."""
    while (free := with_number(name, number)) in used:
        number += 1
    return free


def with_number(name: str, number: int) -> str:
    """Return a name with a number appended, cut to the maximum length of names."""
    suffix = f"-{number}"
    return f"{name[: LONGEST_NAME - len(suffix)]}{suffix}"


SETTINGS: Final = ("secret", "api_key", "username", "form")
SECRET_SETTINGS: Final = frozenset({"secret", "api_key"})
"""Settings that never appear in a specification, a replay or a report."""

OWN_SETTING: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""The name of a program's own setting; the program gets it as an environment variable."""

MISSPELT: Final = 0.75
"""Minimum similarity to one of SETTINGS for a name to count as a typo: it may be a secret."""


def is_setting(key: str) -> bool:
    """Return whether a bot may have a setting of this name: one of ours, or its own."""
    return key in SETTINGS or (OWN_SETTING.fullmatch(key) is not None and not meant(key))


def meant(key: str) -> str:
    """Return "did you mean" with the similar setting; "" if none is similar."""
    near = [] if key in SETTINGS else get_close_matches(key, SETTINGS, 1, MISSPELT)
    return f"; did you mean {near[0]}?" if near else ""


def from_environment(value: str) -> str:
    """Return a value, or for `env:VAR` the value of that environment variable."""
    if not value.startswith("env:"):
        return value
    variable = value.removeprefix("env:")
    if variable not in os.environ:
        raise UsageError(f"the environment has no variable {variable}")
    return os.environ[variable]


ON_WINDOWS: Final = sys.platform == "win32"
ABSOLUTE: Final = re.compile(r"(?P<option>[^/\\\s]*=)?(?P<path>(?:/|[A-Za-z]:[\\/]).*)", re.DOTALL)
NAMED: Final = re.compile(r"([A-Za-z0-9_.-]{1,64})=(.+)", re.DOTALL)
LONGEST_COMMAND: Final = 8192
"""Maximum characters of a command, as the time to split it grows faster than its length."""

BotKind: TypeAlias = Literal["builtin", "python", "exec", "http", "human", "absent"]


class BotSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A parsed bot argument, which may start with a name: `NAME=`.

    >>> read_bots(["mine=builtin:greedy"]).bots[0].spec
    'builtin:greedy'
    """

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    kind: BotKind
    target: str
    """The strategy, `PATH[:NAME]`, the command line, or the base URL; "" for a human player.

    For an absent bot, the reason.
    """
    settings: dict[str, str] = msgspec.field(default_factory=dict)
    folder: str = ""
    """The folder of an untrusted program; "" for a program that the user named directly.

    Only this folder is copied, and `target` names files relative to it. A program that the user
    named directly may be anywhere.
    """

    def __post_init__(self) -> None:
        """Raise UsageError if an untrusted program names something outside its folder."""
        if self.folder:
            refuse_outside(self.files_or_words)

    @property
    def files_or_words(self) -> list[str]:
        """The parts of the command, or the file of the class: everything that may name a file."""
        if self.kind == "python":
            return [self.python_player[0]]
        return self.command if self.kind == "exec" else []

    @property
    def spec(self) -> str:
        """The bot argument without its name and settings."""
        if self.kind in ("human", "absent"):
            return self.kind
        return self.target if self.kind == "http" else f"{self.kind}:{self.target}"

    @property
    def public(self) -> str:
        """The bot's description in replays: like `spec`, with local paths reduced to file names.

        Bytes of a file name that are not valid text become question marks.
        """
        return self._without_folders.encode(errors="replace").decode()

    @property
    def _without_folders(self) -> str:
        if self.kind == "python":
            path, _ = self.python_player
            return f"python:{without_folder(path)}{self.target[len(path) :]}"
        if self.kind == "exec":
            return f"exec:{shlex.join(map(without_folder, self.command))}"
        return self.spec

    @property
    def username(self) -> str:
        """The bot's name for games that allow only letters, digits and `_`."""
        return self.settings.get("username") or re.sub(r"\W+", "_", self.name, flags=re.ASCII)

    @property
    def own_settings(self) -> dict[str, str]:
        """The program's own settings, which the arena does not read."""
        return {
            key: value
            for key, value in self.settings.items()
            if key not in SETTINGS and OWN_SETTING.fullmatch(key)
        }

    @property
    def command(self) -> list[str]:
        """The program and its arguments; raise UsageError if the command cannot be split."""
        try:
            return split_command(self.target)
        except UsageError as error:
            raise UsageError(f"bot {self.name}: {error}") from None

    @property
    def python_player(self) -> tuple[str, str]:
        """The file of `python:PATH[:NAME]`, and the name of the player in it, or ""."""
        path, name = split_player(self.target)
        return path, name or ""

    def with_settings(self, settings: Mapping[str, str]) -> BotSpec:
        """Return the bot with additional settings."""
        return msgspec.structs.replace(self, settings={**self.settings, **settings})


class BotSource(NamedTuple):
    """A bot's kind, target and default name."""

    kind: BotKind
    target: str
    name: str


class BotArguments(NamedTuple):
    """Parsed bot arguments, and the secret settings by bot name."""

    bots: list[BotSpec]
    secrets: dict[str, dict[str, str]]


def split_command(text: str) -> list[str]:
    """Return the parts of a command, split by the rules of a POSIX shell.

    On Windows a backslash is literal, as paths there are full of them; output of `shlex.join` is
    split correctly in any case. Raises UsageError for an unterminated quote, and for more than
    LONGEST_COMMAND characters.

    >>> split_command("env X=1 python3 'my bot.py'")
    ['env', 'X=1', 'python3', 'my bot.py']
    """
    if len(text) > LONGEST_COMMAND:
        raise UsageError(
            f"the command {short(text)} is too long: at most {LONGEST_COMMAND:,} characters"
        )
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = "" if ON_WINDOWS else lexer.escape
    try:
        return list(lexer)
    except ValueError as error:
        raise UsageError(f"the command {short(text)}: {error}") from None


def without_folder(part: str) -> str:
    """Return a part of a command with any absolute path in it reduced to the file name."""
    match = ABSOLUTE.fullmatch(part)
    return f"{match['option'] or ''}{PureWindowsPath(match['path']).name}" if match else part


def public_fault(bot: BotSpec, fault: Fault) -> Fault:
    """Return a fault whose messages name no local folders, as they are stored in replays."""
    folders = sorted(folders_of(bot), key=len, reverse=True)
    detail, note = (without_folders(text, folders) for text in (fault.detail, fault.note))
    return replace(fault, detail=detail, note=note)


def folders_of(bot: BotSpec) -> set[str]:
    """Return the local folders that may appear in a fault's messages."""
    named = {gettempdir(), sys.prefix, str(Path("~").expanduser()), str(Path.cwd())}
    if bot.kind in ("exec", "python"):
        named |= {str(Path(part).parent) for part in bot.files_or_words if Path(part).is_absolute()}
        named |= {bot.folder} - {""}
    return named - {os.sep, "~"}


def without_folders(text: str, folders: Iterable[str]) -> str:
    """Return text with these folders removed from file names; `folders` is sorted longest first."""
    for folder in folders:
        text = text.replace(f"{folder}{os.sep}", "").replace(folder, "the folder")
    return text


def read_bots(
    texts: Sequence[str], settings: Iterable[str] = (), builtins: Collection[str] = ()
) -> BotArguments:
    """Read bot arguments; raise UsageError if one is invalid, or if two have the same name.

    `builtins` are the built-in strategies, for the hint in the message about an invalid bot.

    >>> arguments = read_bots(
    ...     ["builtin:greedy", "me=http://127.0.0.1:8080"], settings=["me.secret=s3cret"]
    ... )
    >>> [bot.name for bot in arguments.bots], arguments.secrets["me"]
    (['greedy', 'me'], {'secret': 's3cret'})
    """
    named = [split_name(text) for text in texts]
    places = [place_of(spec, builtins) for _, spec in named]
    names = names_of([name for name, _ in named], places)
    settings_by_name = read_settings(settings, names)
    public: dict[str, dict[str, str]] = {name: {} for name in names}
    secrets: dict[str, dict[str, str]] = {name: {} for name in names}
    for name, values in settings_by_name.items():
        for key, value in values.items():
            # Secrets are separated here, at the boundary: a specification refuses them, so none can
            # end up in a replay or log.
            (secrets if key in SECRET_SETTINGS else public)[name][key] = value
    bots = [
        BotSpec(name, place.kind, place.target, public[name])
        for name, place in zip(names, places, strict=True)
    ]
    for bot in bots:
        refuse_own_settings(bot)
    return BotArguments(bots, secrets)


def split_name(text: str) -> tuple[str | None, str]:
    """Split `NAME=SPEC` into the name, or None, and the rest."""
    match = NAMED.fullmatch(text)
    return (match[1], match[2]) if match else (None, text)


def names_of(names: Sequence[str | None], places: Sequence[BotSource]) -> list[str]:
    """Return a name for each bot: the given one, or its default.

    Raises UsageError if two bots were given the same name.
    """
    explicit = [name for name in names if name is not None]
    for name in explicit:
        if explicit.count(name) > 1:
            raise UsageError(f"two bots are named {name}: give one of them another name")
    unnamed = [
        fitting(at.name, address=at.kind == "http")
        for name, at in zip(names, places, strict=True)
        if name is None
    ]
    # Names given by users never change; default names are adapted to them (decisions 0006).
    free = iter(numbered(unnamed, explicit))
    return [next(free) if name is None else name for name in names]


def read_settings(texts: Iterable[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read settings `NAME.key=value`; `env:VAR` reads an environment variable.

    The last dot ends the name, as keys contain no dots: `bot.py.form=http` sets `form` for the bot
    `bot.py`.
    """
    settings: dict[str, dict[str, str]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        # Names may contain dots, keys may not: no quoting is needed (decisions 0006).
        name, dot, key = place.rpartition(".")
        if not equals or not dot or name not in names or not is_setting(key):
            raise UsageError(
                f"--set takes NAME.KEY=VALUE, where NAME is one of {', '.join(names)} and KEY is"
                f" one of {', '.join(SETTINGS)}, or one of the bot's own"
                f" (lower-case letters, digits and _), not {place!r}{meant(key)}"
            )
        settings.setdefault(name, {})[key] = from_environment(value)
    return settings


def refuse_own_settings(bot: BotSpec) -> None:
    """Raise UsageError if a bot has settings of its own but is not a program that can read them."""
    if bot.kind not in ("exec", "python") and (own := bot.own_settings):
        raise UsageError(
            f"bot {bot.name}: {', '.join(own)} cannot be set: a {bot.kind} bot gets no settings of"
            " its own; programs and python:PATH bots get them in their environment"
        )


def read_bot(name: str, spec: str, settings: dict[str, str], folder: Path | None = None) -> BotSpec:
    """Read a bot argument without a name; raise UsageError if invalid.

    An untrusted bot may only name files in `folder`, relative to it.
    """
    try:
        place = place_of(spec, folder=folder)
        is_program = place.kind in ("exec", "python")
        home = str(folder.resolve()) if folder and is_program else ""
        bot = BotSpec(name, place.kind, place.target, settings, home)
        if folder and is_program:
            refuse_links(folder, bot.files_or_words)
        if folder and place.kind == "python":
            refuse_missing(folder, bot.python_player[0])
    except UsageError as error:
        raise UsageError(f"{folder or f'bot {name}'}: {error}") from None
    return bot


def place_of(spec: str, builtins: Collection[str] = (), folder: Path | None = None) -> BotSource:
    """Return a bot's kind, target and default name; raise UsageError for an invalid argument.

    The argument has no name. For `folder` see `read_bot`.
    """
    kind, colon, rest = spec.partition(":")
    if kind in ("http", "https") and colon:
        return BotSource("http", check_base(spec), named_after_address(spec))
    if kind == "builtin" and rest:
        return BotSource("builtin", rest, rest)
    if kind == "python" and rest:
        return BotSource("python", rest, named_after_player(rest))
    if kind == "exec" and rest.strip():
        return BotSource("exec", rest, named_after_command(split_command(rest)))
    command = program_of_others(folder, spec) if folder else program(Path(spec), builtins)
    return BotSource("exec", shlex.join(command), named_after_file(spec))


def split_player(target: str) -> tuple[str, str | None]:
    """Return both parts of `PATH[:NAME]`; a Windows path may itself contain a colon."""
    path, colon, name = target.rpartition(":")
    return (path, name) if colon and name.isidentifier() else (target, None)


def named_after_player(target: str) -> str:
    """Return the class or function that `PATH[:NAME]` names, or the name of the file."""
    path, name = split_player(target)
    return name or named_after_file(path)
