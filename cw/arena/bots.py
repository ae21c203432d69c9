"""What a bot argument means: where a bot is, how it is reached, and what it is told."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from cw.errors import UsageError

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

NAMED: Final = re.compile(r"([A-Za-z0-9_.-]{1,64})=(.+)", re.DOTALL)
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
SETTINGS: Final = ("secret", "api_key", "username", "form")
FORMS: Final = (
    "a bot is builtin:NAME, python:PATH[:Class], exec:COMMAND, the path of a program, or http://..."
)


@dataclass(frozen=True, slots=True)
class BotSpec:
    """A bot as it was asked for; a name may stand before it as `NAME=`."""

    name: str
    kind: Literal["builtin", "python", "exec", "http", "human"]
    target: str
    """The strategy, `PATH[:Class]`, the command line, or the base address; "" for a person."""
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def spec(self) -> str:
        """The bot without its name and without secrets."""
        if self.kind == "human":
            return self.kind
        return self.target if self.kind == "http" else f"{self.kind}:{self.target}"

    @property
    def command(self) -> list[str]:
        """The program and its arguments; raise UsageError for a command that cannot be split."""
        try:
            return shlex.split(self.target, posix=os.name == "posix")
        except ValueError as error:
            raise UsageError(f"bot {self.name}: the command {self.target!r}: {error}") from None


def read_bots(texts: Sequence[str], settings: Iterable[str] = ()) -> list[BotSpec]:
    """Read bot arguments; raise UsageError for one that means nothing, or two of one name."""
    named = [split_name(text, number) for number, text in enumerate(texts)]
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two bots are named {name}")
    given = read_settings(settings, names)
    return [read_bot(name, spec, given.get(name, {})) for name, spec in named]


def split_name(text: str, number: int) -> tuple[str, str]:
    """Return the name and the rest; without a name a letter."""
    found = NAMED.fullmatch(text)
    if found:
        return found[1], found[2]
    return (LETTERS[number] if number < len(LETTERS) else f"bot{number + 1}"), text


def read_settings(texts: Iterable[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read settings `NAME.key=value`; `env:VAR` stands for a variable of the environment."""
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


def read_bot(name: str, spec: str, settings: Mapping[str, str]) -> BotSpec:
    """Read a bot without its name."""
    kind, colon, rest = spec.partition(":")
    if kind in ("http", "https") and colon:
        return BotSpec(name, "http", check_address(name, spec), settings)
    if kind == "builtin" and rest:
        return BotSpec(name, "builtin", rest, settings)
    if kind == "python" and rest:
        return BotSpec(name, "python", rest, settings)
    if kind == "exec" and rest.strip():
        return BotSpec(name, "exec", rest, settings)
    return BotSpec(name, "exec", shlex.join(program(name, Path(spec))), settings)


def check_address(name: str, address: str) -> str:
    """Return a base address without its final slash; raise UsageError if it is none."""
    try:
        parts = urlsplit(address)
        whole = parts.hostname and parts.port != 0
    except ValueError:
        whole = None
    if not whole or parts.query or parts.fragment or parts.username is not None:
        raise UsageError(
            f"bot {name}: {address!r} is no base address:"
            " http or https, a host, optional port and path, and nothing else"
        )
    return address.rstrip("/")


def program(name: str, path: Path) -> list[str]:
    """Return the command that runs a program; raise UsageError if the path is none."""
    if not path.is_file():
        raise UsageError(f"bot {name}: there is no file {str(path)!r}; {FORMS}")
    interpreter = INTERPRETERS.get(path.suffix)
    if interpreter is None:
        if not os.access(path, os.X_OK):
            known = ", ".join(INTERPRETERS)
            raise UsageError(
                f"bot {name}: {str(path)!r} cannot be executed and does not end in {known};"
                " say how to run it: exec:COMMAND"
            )
        return [str(path.resolve())]
    if shutil.which(interpreter[0]) is None:
        raise UsageError(f"bot {name}: {path.name} needs {interpreter[0]}, which is not installed")
    return [*interpreter, str(path.resolve())]
