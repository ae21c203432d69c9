"""The exception that a program's error output ends with, in eight languages, on one line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final, NamedTuple

LONGEST: Final = 300
"""Signs of an exception that a sentence quotes."""

LONGEST_PLACE: Final = 40
"""Signs of the name of a file, and of the number of a line."""

INSTALLED: Final = re.compile(
    r"^(?:node:|internal/|<|/usr/|/opt/)|/(?:site-packages|dist-packages|node_modules)/"
    r"|/lib/python3|^java\.|\bjdk\."
)
"""How files that are not the author's are named."""

PYTHON: Final = re.compile(
    # Possessive, as what is not an exception would else be tried in each way to part its blanks.
    r'(?P<frames>(?:^[ \t]++File "[^"\n]+", line \d++.*\n(?:^(?![ \t]+File ")[ \t]++.*\n)*+)++)'
    r"^(?P<exception>[A-Za-z_][\w.]*(?::.*)?)$",
    re.MULTILINE,
)
AT: Final = re.compile(
    r"^(?:Exception in thread .*?\" |Caused by: |Uncaught )?(?P<exception>[A-Za-z_][^\n]*)\n"
    r"(?P<frames>(?:^[ \t]+at .*\n?)+)",
    re.MULTILINE,
)
RUBY: Final = re.compile(
    r"^(?P<frames>\S+?:\d+:in .*?['\"`]): (?P<message>.*) \((?P<exception>[A-Z][\w:]*)\)$"
    r"(?P<more>(?:\n[ \t]+(?:\d+: )?from .*)*)",
    re.MULTILINE,
)
PHP: Final = re.compile(
    r"(?:Uncaught |^)(?P<exception>[A-Z][\w\\]*: .*|syntax error, .*)"
    r" in (?P<frames>\S+?(?::| on line )\d+)$",
    re.MULTILINE,
)
GO: Final = re.compile(
    r"^(?P<exception>panic: .*|fatal error: .*)\n(?P<frames>(?:.*\n?)*)", re.MULTILINE
)
CPP: Final = re.compile(
    r"^terminate called after throwing an instance of '(?P<exception>[^'\n]+)'"
    r"(?:\n[ \t]+what\(\):[ \t]+(?P<message>.*))?(?P<frames>)$",
    re.MULTILINE,
)
BOT: Final = re.compile(r"(?:^|[/\\])[Bb]ot\.\w+$")
"""How kits name the author's file."""

FORMS: Final = (PYTHON, AT, RUBY, PHP, GO, CPP)

UNREADABLE_FILE: Final = re.compile(r"^(\S+\.[cm]?js:\d+)$", re.MULTILINE)
"""The line with which Node begins to tell of a file that it cannot read."""

PLACE: Final = re.compile(
    r'File "(?P<python>[^"\n]+)", line (?P<line>\d+)'
    r"|(?P<path>[^\s()'\"]+?\.[a-z]{1,5})(?::| on line )(?P<number>\d+)"
)
"""A file and a line, in any of the forms."""


class Place(NamedTuple):
    """A line in a file."""

    file: str
    line: str

    def __str__(self) -> str:
        """Return it for a sentence, without the folder."""
        name = PurePosixPath(PureWindowsPath(self.file).as_posix()).name
        return f"{name[-LONGEST_PLACE:]}, line {self.line[:LONGEST_PLACE]}"


class Raised(NamedTuple):
    """An exception that an output reports."""

    text: str
    """Its name and message, on one line."""
    frames: list[Place]
    innermost_first: bool
    end: int
    """Where in the output it is named."""

    @property
    def place(self) -> Place | None:
        """Where the author's file raised it; None for what is installed."""
        return author_place(self.frames, self.innermost_first)


def last_exception(output: str) -> str:
    """Return the last exception in an error output, and where its author's file raised it.

    Returns "" where there is none. Whatever a bot writes is text: nothing in it is trusted.

    >>> last_exception('  File "/b/bot.py", line 7, in choose\\n    1 / 0\\nKeyError: 3\\n')
    'KeyError: 3 (bot.py, line 7)'
    """
    sentences = exceptions(output)
    if not sentences:
        return ""
    last = sentences[-1]
    return f"{last.text} ({last.place})" if last.place else last.text


def exceptions(output: str) -> list[Raised]:
    """Return the exceptions in an error output, in their order."""
    matches = [match for form in FORMS for match in form.finditer(output)]
    return sorted((raised(match, output) for match in matches), key=lambda each: each.end)


def raised(match: re.Match[str], output: str) -> Raised:
    """Return the exception that one of FORMS has matched."""
    parts = match.groupdict()
    name = re.sub(r"^(?:[a-z]\w*\.)+(?=[A-Z])", "", parts["exception"].strip())
    message = parts.get("message")
    text = f"{name}: {message}" if message else name
    frames = places(parts["frames"] + (parts.get("more") or ""))
    if match.re is AT:
        frames += places("\n".join(UNREADABLE_FILE.findall(output[: match.start()])[-1:]))
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    return Raised(text, frames, match.re is not PYTHON, match.end("exception"))


def places(frames: str) -> list[Place]:
    """Return the files and lines of frames in their order."""
    return [
        Place(match["python"] or match["path"], match["line"] or match["number"])
        for match in PLACE.finditer(frames)
    ]


def author_place(frames: Sequence[Place], innermost_first: bool) -> Place | None:
    """Return the innermost line of the author's first file; of what is installed, none."""
    own = [place for place in frames if not INSTALLED.search(place.file)]
    if not own:
        return None
    ordered = own if innermost_first else own[::-1]
    # The outermost frame is in the program itself, also where a library of its folder has raised;
    # in a thread of a web service it is not, but kits name their programs so.
    main = next((place for place in own if BOT.search(place.file)), ordered[-1])
    innermost = next(place for place in ordered if place.file == main.file)
    # Where it only starts the kit, the author's function has returned what the kit cannot use.
    return ordered[0] if innermost is ordered[-1] else innermost
