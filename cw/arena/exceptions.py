"""Parsers that find exceptions in a program's error output, for eight languages.

Each format has a reader. Readers scan the lines once and match each as a whole, so the time is
linear in the length of the output, whatever a hostile bot writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final, NamedTuple, TypeAlias

LONGEST: Final = 300
"""Maximum characters of an exception quoted in a message."""

LONGEST_PLACE: Final = 40
"""Maximum characters of a file name."""

MOST_LINES: Final = 20
"""Maximum lines of a message above its frames that are searched for its first line."""

INSTALLED: Final = re.compile(
    r"^(?:node:|internal/|<|/usr/|/opt/)|/(?:site-packages|dist-packages|node_modules)/"
    r"|/lib/python3|^java\.|\bjdk\."
)
"""Matches the paths of files that are not the author's."""

BOT: Final = re.compile(r"(?:^|[/\\])[Bb]ot\.\w+$")
"""The name of the author's file in kits."""

KIT_SERVER: Final = re.compile(r"(?:^|[/\\])bot_server\.\w+$")
"""The name of the kits' file that only passes requests on."""

WORD: Final = re.compile(r"[^\s()'\"]+")
PLACE: Final = re.compile(r"\.[a-z]{1,5}:(\d{1,9})(?!\d)")
"""The end of a file name within a word, and the line number."""

PYTHON_FRAME: Final = re.compile(r'[ \t]*File "([^"]+)", line (\d{1,9})(?!\d)')
PYTHON_NAME: Final = re.compile(r"[A-Za-z_][\w.]*(?::.*)?")
FATAL: Final = "Fatal Python error: "
SIGNALLED: Final = re.compile(r"(Fatal Python error): (?:Segmentation fault|Aborted)")

AT: Final = re.compile(r"[ \t]+at ")
UNCAUGHT: Final = re.compile(r'Exception in thread "[^"]*" |Caused by: |Uncaught ')
NAMED: Final = re.compile(r"(?:[\w$]+\.)*[A-Z][\w$]*(?: \[\w+\])?(?::.*)?")
"""An exception of Node or Java, starting with its name."""

NODE_PLACE: Final = re.compile(r"(\S+\.[cm]?[jt]s):(\d{1,9})")
"""The line with which Node starts its report of an uncaught exception."""

NO_ERROR: Final = "(Use `node --trace-uncaught"
"""What Node prints below a thrown value that is not an Error and so has no frames."""

RUBY_FROM: Final = re.compile(r"[ \t]+(?:\d+: )?from ")
RUBY_SYNTAX: Final = re.compile(r"(\S+\.rb):(\d{1,9}): (syntax error.*)")
PHP_ERROR: Final = re.compile(r"(?:PHP )?((?:Fatal|Parse|Recoverable fatal) error): +")
PHP_PLACE: Final = re.compile(r"(\S+)(?::| on line )(\d{1,9})")
PHP_NAMED: Final = re.compile(r"[A-Z][\w\\]*: |syntax error, ")
GO_PANIC: Final = re.compile(r"(?:panic|fatal error): |.{0,40}http: panic serving \S+: ")
CPP: Final = "terminate called after throwing an instance of '"
CPP_WHAT: Final = re.compile(r"[ \t]+what\(\):[ \t]++(.*)")
SANITIZER: Final = re.compile(r"==\d+==ERROR: (.*)")
SANITIZER_FRAME: Final = re.compile(r"[ \t]+#\d+ ")
UNDEFINED: Final = re.compile(r"(\S+):(\d{1,9}):\d+: runtime error: (.*)")
"""How UndefinedBehaviorSanitizer names a line."""


class LineOfFile(NamedTuple):
    """A line in a file."""

    file: str
    line: int

    def __str__(self) -> str:
        """Return the location as text, without the folder."""
        return f"{self.name[-LONGEST_PLACE:]}, line {self.line}"

    @property
    def name(self) -> str:
        """The file name without its folder."""
        return PurePosixPath(PureWindowsPath(self.file).as_posix()).name


class Raised(NamedTuple):
    """An exception reported in an output."""

    at: int
    """The index of the output line where it starts."""
    text: str
    """Its name and message, on one line."""
    frames: list[LineOfFile]
    innermost_first: bool = True

    @property
    def place(self) -> LineOfFile | None:
        """Where the author's file raised it; None if only installed files did."""
        return author_place(self.frames, self.innermost_first)

    @property
    def sentence(self) -> str:
        """Its name and message, and where in the author's file it was raised."""
        return f"{self.text} ({self.place})" if self.place else self.text


Lines: TypeAlias = Sequence[str]
Reader: TypeAlias = Callable[[Lines], Iterator[Raised]]
"""Yields the exceptions of one format that the lines contain."""


def last_exception(output: str) -> Raised | None:
    r"""Return the last exception in an error output, or None.

    Whatever a bot writes is treated as text: nothing in it is trusted.

    >>> output = '  File "/b/bot.py", line 7, in choose\n    1 / 0\nKeyError: 3\n'
    >>> last_exception(output).sentence
    'KeyError: 3 (bot.py, line 7)'
    """
    return next(iter(exceptions(output)[-1:]), None)


def exceptions(output: str) -> list[Raised]:
    """Return the exceptions in an error output, in order."""
    lines = output.replace("\r\n", "\n").split("\n")
    reports = (raised for reader in READERS for raised in reader(lines))
    return sorted(reports, key=lambda raised: raised.at)


def named(name: str, message: str = "") -> str:
    """Return an exception's name and message for display: without its package, and truncated.

    >>> named("java.lang.IllegalStateException: my bug")
    'IllegalStateException: my bug'
    """
    short = re.sub(r"^(?:[a-z]\w*\.)+(?=[A-Z])", "", name.strip())
    text = f"{short}: {message}" if message else short
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def from_python(lines: Lines) -> Iterator[Raised]:
    """Yield Python exceptions: frames, each with source lines, then the name."""
    frames: list[LineOfFile] = []
    begin = 0
    for number, line in enumerate(lines):
        if frame := PYTHON_FRAME.match(line):
            is_titled = not frames and number > 0 and lines[number - 1].startswith("Traceback")
            begin = begin if frames else number - is_titled
            frames.append(LineOfFile(frame[1], int(frame[2])))
        elif frames and not line.startswith((" ", "\t")):
            if PYTHON_NAME.fullmatch(line):
                yield Raised(begin, named(line), frames, innermost_first=False)
            frames = []


def from_fatal_python(lines: Lines) -> Iterator[Raised]:
    """Yield the signals that Python's faulthandler reports, with the failing thread's frames."""
    number = 0
    while number < len(lines):
        begin, number = number, number + 1
        if not lines[begin].startswith(FATAL):
            continue
        frames: list[LineOfFile] = []
        is_current = False
        while number < len(lines) and not lines[number].startswith(FATAL):
            frame = PYTHON_FRAME.match(lines[number])
            if frame and is_current:
                frames.append(LineOfFile(frame[1], int(frame[2])))
            elif not frame:
                is_current = lines[number].startswith("Current thread")
            number += 1
        # The exit code already names the signal.
        yield Raised(begin, SIGNALLED.sub(r"\1", named(lines[begin])), frames)


def from_node_or_java(lines: Lines) -> Iterator[Raised]:
    """Yield Node and Java exceptions, whose frames follow the message and start with `at`."""
    uncaught: Raised | None = None
    """The source location that Node prints first."""
    last: Raised | None = None
    for number, line in enumerate([*lines, ""]):
        if AT.match(line):
            last = last or head_above(lines, number)
            if last:
                last.frames.extend(places(line))
            continue
        if last and uncaught:
            # If Node cannot parse a file, all frames are Node's own.
            is_shown = last.at - uncaught.at < MOST_LINES
            at = uncaught.at if is_shown else last.at
            yield last._replace(at=at, frames=last.frames + uncaught.frames)
        elif last:
            yield last
        last = None
        if where := NODE_PLACE.fullmatch(line):
            uncaught = Raised(number, "", [LineOfFile(where[1], int(where[2]))])
        elif line.startswith(NO_ERROR) and uncaught:
            yield uncaught._replace(text=named(f"Uncaught {lines[number - 1]}"))


def head_above(lines: Lines, number: int) -> Raised | None:
    """Return the exception whose frames start at a line, without frames yet.

    Its name is on the nearest line that looks like one, as a message may have several lines;
    otherwise on the line above.
    """
    for above in range(number - 1, max(-1, number - 1 - MOST_LINES), -1):
        if not lines[above] or AT.match(lines[above]):
            break
        text = UNCAUGHT.sub("", lines[above], 1)
        if NAMED.fullmatch(text):
            return Raised(above, named(text), [])
    is_words = number > 0 and lines[number - 1][:1].isalpha()
    return Raised(number - 1, named(lines[number - 1]), []) if is_words else None


def from_ruby(lines: Lines) -> Iterator[Raised]:
    """Yield Ruby exceptions: `place:in 'method': message (Name)`, then frames."""
    last: Raised | None = None
    for number, line in enumerate(lines):
        if last and (start := RUBY_FROM.match(line)):
            last.frames.extend(ruby_place(line[start.end() :].partition(":in ")[0]))
            continue
        if last:
            yield last
        last = ruby_head(number, line)
    if last:
        yield last


def ruby_head(number: int, line: str) -> Raised | None:
    """Return the exception named by a line of Ruby's output."""
    if syntax := RUBY_SYNTAX.fullmatch(line):
        return Raised(number, named(syntax[3]), [LineOfFile(syntax[1], int(syntax[2]))])
    where, _, rest = line.partition(":in ")
    frames = ruby_place(where)
    message, _, name = rest.rpartition(" (")
    method, _, words = message[1:].partition("': ")
    if not (frames and method and message[0] in "'`" and name.endswith(")") and name[0].isupper()):
        return None
    return Raised(number, named(name[:-1], words), frames)


def ruby_place(text: str) -> list[LineOfFile]:
    """Return the location of a Ruby frame, `file:line`; [] for anything else."""
    file, _, line = text.rpartition(":")
    is_place = file and not any(sign.isspace() for sign in file) and re.fullmatch(r"\d{1,9}", line)
    return [LineOfFile(file, int(line))] if is_place else []


def from_php(lines: Lines) -> Iterator[Raised]:
    """Yield PHP exceptions and fatal errors, which end with their location."""
    for number, line in enumerate(lines):
        words, _, where = line.rpartition(" in ")
        place = PHP_PLACE.fullmatch(where)
        if not (words and place):
            continue
        _, uncaught, raised = words.partition("Uncaught ")
        error = PHP_ERROR.match(words)
        text = raised if uncaught else words[error.end() :] if error else words
        if PHP_NAMED.match(text):
            yield Raised(number, named(text), [LineOfFile(place[1], int(place[2]))])
        elif error:
            yield Raised(number, named(error[1], text), [LineOfFile(place[1], int(place[2]))])


def from_go(lines: Lines) -> Iterator[Raised]:
    """Yield Go panics and fatal errors, with the frames of the first goroutine below."""
    number = 0
    while number < len(lines):
        begin, number = number, number + 1
        head = GO_PANIC.match(lines[begin])
        if not head:
            continue
        frames: list[LineOfFile] = []
        while number < len(lines) and not GO_PANIC.match(lines[number]):
            if frames and not lines[number]:
                break
            if lines[number].startswith("\t"):
                frames += places(lines[number])
            number += 1
        text = lines[begin][head.end() :] if "http: " in head[0] else lines[begin]
        yield Raised(begin, named(text), frames)


def from_cpp(lines: Lines) -> Iterator[Raised]:
    """Yield uncaught C++ exceptions, which have no frames."""
    for number, line in enumerate(lines):
        name, end, _ = line.removeprefix(CPP).partition("'")
        if line.startswith(CPP) and end:
            what = CPP_WHAT.match(lines[number + 1]) if number + 1 < len(lines) else None
            yield Raised(number, named(name, what[1] if what else ""), [])


def from_sanitizers(lines: Lines) -> Iterator[Raised]:
    """Yield the reports of C and C++ programs built with sanitizers."""
    last: Raised | None = None
    for number, line in enumerate(lines):
        if undefined := UNDEFINED.match(line):
            yield Raised(number, named(undefined[3]), [LineOfFile(undefined[1], int(undefined[2]))])
        elif error := SANITIZER.match(line):
            if last:
                yield last
            last = Raised(number, named(error[1].partition(" (pc ")[0]), [])
        elif last and SANITIZER_FRAME.match(line):
            last.frames.extend(places(line))
        elif last and last.frames:
            yield last
            last = None
    if last:
        yield last


READERS: Final[Sequence[Reader]] = (
    from_python,
    from_fatal_python,
    from_node_or_java,
    from_ruby,
    from_php,
    from_go,
    from_cpp,
    from_sanitizers,
)


def places(line: str) -> Iterator[LineOfFile]:
    """Yield the files with line numbers in a line, such as `bot.js:7`.

    >>> list(places("    at RandomBot.choose (/bot/bot.js:9:41)"))
    [LineOfFile(file='/bot/bot.js', line=9)]
    """
    for word in WORD.findall(line):
        if ending := PLACE.search(word):
            yield LineOfFile(word[: ending.start(1) - 1], int(ending[1]))


def author_place(frames: Sequence[LineOfFile], innermost_first: bool) -> LineOfFile | None:
    """Return the innermost line in the author's main file, or None if all files are installed."""
    own = [place for place in frames if not INSTALLED.search(place.file)]
    own = [place for place in own if not KIT_SERVER.search(place.file)] or own
    if not own:
        return None
    ordered = own if innermost_first else own[::-1]
    # The outermost frame is in the main program, even if a library in its folder raised the
    # exception. This does not hold in a thread of a web service, but kits use a known file name for
    # the author's program.
    main = next((place for place in own if BOT.search(place.file)), ordered[-1])
    innermost = next(place for place in ordered if place.file == main.file)
    # If that line only starts the kit, the author's function has returned something that the kit
    # cannot use.
    return ordered[0] if innermost is ordered[-1] else innermost
