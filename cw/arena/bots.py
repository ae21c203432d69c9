"""What a bot argument means: where a bot is, how it is reached, and what it is told."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path, PureWindowsPath
from tempfile import gettempdir
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from cw.arena.bot_names import (
    fitting,
    named_after_address,
    named_after_command,
    named_after_file,
    numbered,
)
from cw.errors import UsageError
from cw.games.rules import Fault

INTERPRETERS: Final[Mapping[str, Sequence[str]]] = {
    ".py": (sys.executable,),
    ".js": ("node",),
    ".mjs": ("node",),
    ".php": ("php",),
    ".rb": ("ruby",),
    ".sh": ("bash",),
    ".java": ("java",),
}
"""What runs a program with this ending."""

ON_WINDOWS: Final = sys.platform == "win32"
ABSOLUTE: Final = re.compile(r"(?P<option>[^/\\\s]*=)?(?P<path>(?:/|[A-Za-z]:[\\/]).*)", re.DOTALL)
NAMED: Final = re.compile(r"([A-Za-z0-9_.-]{1,64})=(.+)", re.DOTALL)
SETTINGS: Final = ("secret", "api_key", "username", "form")
SECRET_SETTINGS: Final = frozenset({"secret", "api_key"})
"""Settings that never stand in a specification, a replay or a report."""

FORMS: Final = (
    " bot is builtin:NAME, python:PATH[:NAME], exec:COMMAND, the path of a program, or http://..."
)

BotKind: TypeAlias = Literal["builtin", "python", "exec", "http", "human", "absent"]


class BotSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bot as it was asked for; a name may stand before it as `NAME=`."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    kind: BotKind
    target: str
    """The strategy, `PATH[:NAME]`, the command line, or the base address; "" for a person.

    Of a bot that is absent why it is.
    """
    settings: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def spec(self) -> str:
        """The bot without its name and its settings."""
        if self.kind in ("human", "absent"):
            return self.kind
        return self.target if self.kind == "http" else f"{self.kind}:{self.target}"

    @property
    def public(self) -> str:
        """The bot as replays name it: as `spec`, with files of this machine without folders.

        Bytes of a file's name that are no text come as question marks.
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
        """The name by which games know it whose names are letters, digits and `_` alone."""
        return self.settings.get("username") or re.sub(r"\W+", "_", self.name, flags=re.ASCII)

    @property
    def command(self) -> list[str]:
        """The program and its arguments; raise UsageError for a command that cannot be split."""
        try:
            return split_command(self.target)
        except UsageError as error:
            raise UsageError(f"bot {self.name}: {error}") from None

    @property
    def python_player(self) -> tuple[str, str]:
        """The file of `python:PATH[:NAME]`, and the name of what plays in it, or ""."""
        path, name = split_player(self.target)
        return path, name or ""

    def with_settings(self, settings: Mapping[str, str]) -> BotSpec:
        """Return the bot with further settings."""
        return msgspec.structs.replace(self, settings={**self.settings, **settings})


class Place(NamedTuple):
    """Where a bot is, and what it is called unless somebody names it."""

    kind: BotKind
    target: str
    name: str


class BotArguments(NamedTuple):
    """Bots as a command was given them, and by name the settings that nobody else may read."""

    bots: list[BotSpec]
    secrets: dict[str, dict[str, str]]


def split_command(text: str) -> list[str]:
    """Return the parts of a command, as a shell of POSIX quotes them.

    On Windows a backslash stands for itself, as paths there are full of them; what `shlex.join`
    has put together is split as it was in any case. Raises UsageError for a quote without end.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = "" if ON_WINDOWS else lexer.escape
    try:
        return list(lexer)
    except ValueError as error:
        raise UsageError(f"the command {text!r}: {error}") from None


def without_folder(part: str) -> str:
    """Return a part of a command with an absolute path in it as the name of its file."""
    found = ABSOLUTE.fullmatch(part)
    return f"{found['option'] or ''}{PureWindowsPath(found['path']).name}" if found else part


def public_fault(bot: BotSpec, fault: Fault) -> Fault:
    """Return a fault whose sentences name no folder of this machine: they stand in replays."""
    folders = sorted(folders_of(bot), key=len, reverse=True)
    detail, note = (without_folders(text, folders) for text in (fault.detail, fault.note))
    return replace(fault, detail=detail, note=note)


def folders_of(bot: BotSpec) -> set[str]:
    """Return the folders that may stand in what a program of ours says."""
    named = {gettempdir(), sys.prefix, str(Path("~").expanduser()), str(Path.cwd())}
    if bot.kind in ("exec", "python"):
        parts = bot.command if bot.kind == "exec" else [bot.target]
        named |= {str(Path(part).parent) for part in parts if Path(part).is_absolute()}
    return named - {os.sep, "~"}


def without_folders(text: str, folders: Iterable[str]) -> str:
    """Return text in which files in these folders, the longest first, are named without them."""
    for folder in folders:
        text = text.replace(f"{folder}{os.sep}", "").replace(folder, "the folder")
    return text


def read_bots(
    texts: Sequence[str], settings: Iterable[str] = (), builtins: Collection[str] = ()
) -> BotArguments:
    """Read bot arguments; raise UsageError for one that means nothing, or two of one name.

    `builtins` are the built-in strategies, for the sentence about one that is no bot.
    """
    named = [split_name(text) for text in texts]
    places = [place_of(spec, builtins) for _, spec in named]
    names = names_of([name for name, _ in named], places)
    given = read_settings(settings, names)
    public: dict[str, dict[str, str]] = {name: {} for name in names}
    secrets: dict[str, dict[str, str]] = {name: {} for name in names}
    for name, values in given.items():
        for key, value in values.items():
            (secrets if key in SECRET_SETTINGS else public)[name][key] = value
    bots = [
        BotSpec(name, place.kind, place.target, public[name])
        for name, place in zip(names, places, strict=True)
    ]
    return BotArguments(bots, secrets)


def split_name(text: str) -> tuple[str | None, str]:
    """Return the name of `NAME=SPEC`, None without one, and the rest."""
    found = NAMED.fullmatch(text)
    return (found[1], found[2]) if found else (None, text)


def names_of(given: Sequence[str | None], places: Sequence[Place]) -> list[str]:
    """Return a name for each bot: the given one, or what it is called where it is.

    Raises UsageError if two bots were given the same name.
    """
    taken = [name for name in given if name is not None]
    for name in taken:
        if taken.count(name) > 1:
            raise UsageError(f"two bots are named {name}: give one of them another name")
    unnamed = [
        fitting(at.name, address=at.kind == "http")
        for name, at in zip(given, places, strict=True)
        if name is None
    ]
    free = iter(numbered(unnamed, taken))
    return [next(free) if name is None else name for name in given]


def read_settings(texts: Iterable[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read settings `NAME.key=value`; `env:VAR` stands for a variable of the environment.

    The last dot ends the name, as no key has one: `bot.py.form=http` is about the bot `bot.py`.
    """
    settings: dict[str, dict[str, str]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        name, dot, key = place.rpartition(".")
        if not equals or not dot or name not in names or key not in SETTINGS:
            raise UsageError(
                f"--set takes NAME.KEY=VALUE with a name of {', '.join(names)}"
                f" and a key of {', '.join(SETTINGS)}, not {place!r}"
            )
        settings.setdefault(name, {})[key] = from_environment(value)
    return settings


def from_environment(value: str) -> str:
    """Return a value, or that of the variable it names."""
    if not value.startswith("env:"):
        return value
    variable = value.removeprefix("env:")
    if variable not in os.environ:
        raise UsageError(f"the environment has no variable {variable}")
    return os.environ[variable]


def read_bot(name: str, spec: str, settings: dict[str, str]) -> BotSpec:
    """Read a bot argument without a name; raise UsageError for one that means nothing."""
    try:
        place = place_of(spec)
    except UsageError as error:
        raise UsageError(f"bot {name}: {error}") from None
    return BotSpec(name, place.kind, place.target, settings)


def place_of(spec: str, builtins: Collection[str] = ()) -> Place:
    """Return where a bot is, by its argument without a name; raise UsageError for no bot."""
    kind, colon, rest = spec.partition(":")
    if kind in ("http", "https") and colon:
        return Place("http", check_address(spec), named_after_address(spec))
    if kind == "builtin" and rest:
        return Place("builtin", rest, rest)
    if kind == "python" and rest:
        return Place("python", rest, named_after_player(rest))
    if kind == "exec" and rest.strip():
        return Place("exec", rest, named_after_command(split_command(rest)))
    return Place("exec", shlex.join(program(Path(spec), builtins)), named_after_file(spec))


def split_player(target: str) -> tuple[str, str | None]:
    """Return both parts of `PATH[:NAME]`; a path on Windows may have a colon of its own."""
    path, colon, name = target.rpartition(":")
    return (path, name) if colon and name.isidentifier() else (target, None)


def named_after_player(target: str) -> str:
    """Return the class or function that `PATH[:NAME]` names, or the name of the file."""
    path, name = split_player(target)
    return name or named_after_file(path)


def check_address(address: str) -> str:
    """Return a base address without its final slash; raise UsageError if it is none."""
    try:
        parts = urlsplit(address)
        whole = parts.hostname and parts.port != 0
    except ValueError:
        whole = None
    if not whole or parts.query or parts.fragment or parts.username is not None:
        raise UsageError(
            f"{address!r} is no base address:"
            " http or https, a host, optional port and path, and nothing else"
        )
    return address.rstrip("/")


def program(path: Path, builtins: Collection[str] = ()) -> list[str]:
    """Return the command that runs a program; raise UsageError if the path is none."""
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}; {hint(str(path), builtins)}{FORMS}")
    interpreter = INTERPRETERS.get(path.suffix)
    if interpreter is None:
        if not os.access(path, os.X_OK):
            known = ", ".join(INTERPRETERS)
            raise UsageError(
                f"{str(path)!r} cannot be executed and does not end in {known};"
                " say how to run it: exec:COMMAND"
            )
        return [str(path.resolve())]
    if shutil.which(interpreter[0]) is None:
        raise UsageError(f"{path} needs {interpreter[0]}, which is not installed")
    return [*interpreter, str(path.resolve())]


def hint(spec: str, builtins: Collection[str]) -> str:
    """Return the question whether a built-in strategy was meant, and how FORMS goes on."""
    name = re.split("[:/]", spec)[-1].lower()
    near = [] if "." in name else get_close_matches(name, builtins, 1)
    return f"did you mean builtin:{near[0]}? A" if near else "a"
