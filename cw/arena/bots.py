"""Bot arguments: where a bot is, how it is reached, and with which settings."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from tempfile import gettempdir
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from cw.arena.bot_folders import (
    program,
    program_of_others,
    refuse_links,
    refuse_missing,
    refuse_outside,
)
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
from cw.arena.transports.base_address import check_base
from cw.errors import UsageError, short
from cw.games.rules import Fault

ON_WINDOWS: Final = sys.platform == "win32"
ABSOLUTE: Final = re.compile(r"(?P<option>[^/\\\s]*=)?(?P<path>(?:/|[A-Za-z]:[\\/]).*)", re.DOTALL)
NAMED: Final = re.compile(r"([A-Za-z0-9_.-]{1,64})=(.+)", re.DOTALL)
LONGEST_COMMAND: Final = 8192
"""Characters; the time to split a command grows faster than its length."""

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
    folder: str = ""
    """Of a program that others have written its folder, which alone is copied; `target` names files
    relative to it. "" for a program that the user has named himself, wherever it lies."""

    def __post_init__(self) -> None:
        """Raise UsageError for a program of others that names what is not in its folder."""
        if self.folder:
            refuse_outside(self.files_or_words)

    @property
    def files_or_words(self) -> list[str]:
        """The parts of a program's command, or the file of its class: what may name files."""
        if self.kind == "python":
            return [self.python_player[0]]
        return self.command if self.kind == "exec" else []

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
    has put together is split as it was in any case. Raises UsageError for a quote without end, and
    for more than LONGEST_COMMAND characters.

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
        named |= {str(Path(part).parent) for part in bot.files_or_words if Path(part).is_absolute()}
        named |= {bot.folder} - {""}
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
                f"--set takes NAME.KEY=VALUE, where NAME is one of {', '.join(names)} and KEY is"
                f" one of {', '.join(SETTINGS)}, or one of the bot's own"
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


def read_bot(name: str, spec: str, settings: dict[str, str], folder: Path | None = None) -> BotSpec:
    """Read a bot argument without a name; raise UsageError for one that means nothing.

    If others have written it, it can name files of `folder` alone, relative to it.
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


def place_of(spec: str, builtins: Collection[str] = (), folder: Path | None = None) -> Place:
    """Return where a bot is, by its argument without a name; raise UsageError for no bot.

    See `read_bot` for `folder`.
    """
    kind, colon, rest = spec.partition(":")
    if kind in ("http", "https") and colon:
        return Place("http", check_base(spec), named_after_address(spec))
    if kind == "builtin" and rest:
        return Place("builtin", rest, rest)
    if kind == "python" and rest:
        return Place("python", rest, named_after_player(rest))
    if kind == "exec" and rest.strip():
        return Place("exec", rest, named_after_command(split_command(rest)))
    command = program_of_others(folder, spec) if folder else program(Path(spec), builtins)
    return Place("exec", shlex.join(command), named_after_file(spec))


def split_player(target: str) -> tuple[str, str | None]:
    """Return both parts of `PATH[:NAME]`; a path on Windows may have a colon of its own."""
    path, colon, name = target.rpartition(":")
    return (path, name) if colon and name.isidentifier() else (target, None)


def named_after_player(target: str) -> str:
    """Return the class or function that `PATH[:NAME]` names, or the name of the file."""
    path, name = split_player(target)
    return name or named_after_file(path)
