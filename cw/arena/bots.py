"""Bot arguments: where a bot is, how it is reached, and with which settings."""

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
from cw.arena.bot_settings import (
    OWN_SETTING,
    SECRET_SETTINGS,
    SETTINGS,
    from_environment,
    is_setting,
    meant,
)
from cw.errors import UsageError
from cw.games.rules import Fault
from cw.kits import how_to_build

INTERPRETERS: Final[Mapping[str, Sequence[str]]] = {
    ".py": (sys.executable,),
    ".js": ("node",),
    ".mjs": ("node",),
    # Without a php.ini, as in the sandbox, it tells its errors where answers belong.
    ".php": ("php", "-d", "display_errors=stderr"),
    ".rb": ("ruby",),
    ".sh": ("bash",),
    ".java": ("java",),
}
"""What runs a program with this ending."""

ON_WINDOWS: Final = sys.platform == "win32"
ABSOLUTE: Final = re.compile(r"(?P<option>[^/\\\s]*=)?(?P<path>(?:/|[A-Za-z]:[\\/]).*)", re.DOTALL)
NAMED: Final = re.compile(r"([A-Za-z0-9_.-]{1,64})=(.+)", re.DOTALL)
FORMS: Final = (
    " bot is builtin:NAME, python:PATH[:NAME], exec:COMMAND, the path of a program, or http://..."
)

BotKind: TypeAlias = Literal["builtin", "python", "exec", "http", "human", "absent"]


class BotSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bot as it was asked for; a name may stand before it as `NAME=`.

    >>> read_bots(["mine=builtin:greedy"]).bots[0].spec
    'builtin:greedy'
    """

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

        Bytes of a file's name that are not text come as question marks.
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
    def own_settings(self) -> dict[str, str]:
        """The settings that its program has of its own; the arena reads none of them."""
        return {
            key: value
            for key, value in self.settings.items()
            if key not in SETTINGS and OWN_SETTING.fullmatch(key)
        }

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

    >>> split_command("env X=1 python3 'my bot.py'")
    ['env', 'X=1', 'python3', 'my bot.py']
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
    match = ABSOLUTE.fullmatch(part)
    return f"{match['option'] or ''}{PureWindowsPath(match['path']).name}" if match else part


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
            # Separated at the edge: a specification refuses secrets, so none can end up in a replay
            # or log.
            (secrets if key in SECRET_SETTINGS else public)[name][key] = value
    bots = [
        BotSpec(name, place.kind, place.target, public[name])
        for name, place in zip(names, places, strict=True)
    ]
    for bot in bots:
        refuse_own_settings(bot)
    return BotArguments(bots, secrets)


def split_name(text: str) -> tuple[str | None, str]:
    """Return the name of `NAME=SPEC`, None without one, and the rest."""
    match = NAMED.fullmatch(text)
    return (match[1], match[2]) if match else (None, text)


def names_of(names: Sequence[str | None], places: Sequence[Place]) -> list[str]:
    """Return a name for each bot: the given one, or what it is called where it is.

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
    # Names that people give are never changed; ours give way (decisions 0006).
    free = iter(numbered(unnamed, explicit))
    return [next(free) if name is None else name for name in names]


def read_settings(texts: Iterable[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read settings `NAME.key=value`; `env:VAR` stands for a variable of the environment.

    The last dot ends the name, as no key has one: `bot.py.form=http` is about the bot `bot.py`.
    """
    settings: dict[str, dict[str, str]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        # Names may contain dots, keys have none: no quoting is needed (decisions 0006).
        name, dot, key = place.rpartition(".")
        if not equals or not dot or name not in names or not is_setting(key):
            raise UsageError(
                f"--set takes NAME.KEY=VALUE with a name of {', '.join(names)}"
                f" and a key of {', '.join(SETTINGS)}, or one of the bot's own"
                f" (lower-case letters, digits and _), not {place!r}{meant(key)}"
            )
        settings.setdefault(name, {})[key] = from_environment(value)
    return settings


def refuse_own_settings(bot: BotSpec) -> None:
    """Raise UsageError for settings of its own of a bot that is not a program: it gets none."""
    if bot.kind not in ("exec", "python") and (own := bot.own_settings):
        raise UsageError(
            f"bot {bot.name}: {', '.join(own)} cannot be set: a {bot.kind} bot gets no settings of"
            " its own; programs and python:PATH bots get them in their environment"
        )


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
            f"{address!r} is not a base address:"
            " http or https, a host, optional port and path, and nothing else"
        )
    return address.rstrip("/")


def program(path: Path, builtins: Collection[str] = ()) -> list[str]:
    """Return the command that runs a program; raise UsageError if the path is none."""
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}; {hint(str(path), builtins)}{FORMS}")
    if advice := how_to_build(path):
        raise UsageError(f"{path} is source code: {advice}")
    interpreter = INTERPRETERS.get(path.suffix)
    if interpreter is None:
        if not os.access(path, os.X_OK):
            endings = ", ".join(INTERPRETERS)
            raise UsageError(
                f"{str(path)!r} cannot be executed and does not end in {endings};"
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
