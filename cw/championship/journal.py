"""What a championship keeps on disk: its settings, and a line for every game that is over.

A line is written and synced before the game counts. A kill at any instant leaves at most the last
line torn, which is cut off when the journal is opened again: that game was in flight.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from cw.championship.recorded import read_line
from cw.errors import ProtocolError, UsageError
from cw.games.rules import Json
from cw.league.fixtures import Fixture, Result

RESULTS: Final = "results.jsonl"
SETTINGS: Final = "championship.json"
GAMES: Final = "games"
RUNNING: Final = "running.json"
LOCK: Final = ".lock"


@dataclass(slots=True)
class Journal:
    """The folder of a championship, locked by the one who runs it."""

    folder: Path
    lines: list[dict[str, Json]]
    """The games that are over, in the order in which they ended."""
    results: dict[Fixture, Result] = field(init=False)
    """How each of them ended."""

    def __post_init__(self) -> None:
        """Read the results."""
        self.results = {game_of(line): result_of(line) for line in self.lines}

    def add(self, game: Fixture, line: Mapping[str, Json]) -> None:
        """Write down a game; raise UsageError, with the file as it was, if that is not possible."""
        document = {**asdict(game), **line}
        data = json.dumps(document).encode() + b"\n"
        file = self.folder / RESULTS
        before = file.stat().st_size
        try:
            with file.open("ab") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            os.truncate(file, before)
            raise UsageError(
                f"{file} cannot be written: {error.strerror}; what was written before is intact:"
                " make room and resume"
            ) from None
        self.lines.append(document)
        self.results[game] = result_of(document)


def result_of(line: Mapping[str, Json]) -> Result:
    """Return the result that a line tells."""
    return read_line(json.dumps(line).encode()).result


def game_of(line: Mapping[str, Json]) -> Fixture:
    """Return the game that a line is about."""
    return Fixture(
        *(line[name] for name in ("stage", "group", "round", "first", "second", "extra"))
    )


@contextmanager
def opened(folder: Path) -> Iterator[Journal]:
    """Open the journal of a folder, alone; raise UsageError if it is in use or broken."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / LOCK, timeout=0):
            (folder / GAMES).mkdir(exist_ok=True)
            (folder / RESULTS).touch()
            yield Journal(folder, list(whole_lines(folder / RESULTS)))
    except Timeout:
        raise UsageError(f"{folder} is being run by another process") from None


def save_running(folder: Path, games: Iterable[Fixture]) -> None:
    """Write down the games in flight, for those who look on."""
    written_whole(folder / RUNNING, json.dumps([asdict(game) for game in games]))


def load_running(folder: Path) -> list[dict[str, Json]]:
    """Read the games in flight; none where nobody plays."""
    try:
        games: list[dict[str, Json]] = json.loads((folder / RUNNING).read_bytes())
    except (OSError, ValueError):
        return []
    return games


def written_whole(file: Path, text: str) -> Path:
    """Write a file; it appears whole or not at all."""
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
    return file


def looked_at(folder: Path) -> Journal:
    """Read the journal of a folder that somebody else may be running; nothing is changed."""
    try:
        data = (folder / RESULTS).read_bytes()
    except OSError:
        data = b""
    return Journal(
        folder, [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
    )


def whole_lines(file: Path) -> Iterator[dict[str, Json]]:
    """Read the lines of a journal; cut off a torn one at its end."""
    data = file.read_bytes()
    complete = data[: data.rfind(b"\n") + 1]
    if len(complete) < len(data):
        os.truncate(file, len(complete))
    for number, text in enumerate(complete.splitlines(), start=1):
        try:
            read_line(text)
            line = json.loads(text)
            game_of(line)
        except (ProtocolError, KeyError, ValueError) as error:
            raise UsageError(f"{file} line {number}: {error}") from None
        yield line


def save_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write the settings; they appear whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    written_whole(folder / SETTINGS, json.dumps(settings, indent=2) + "\n")


def load_settings(folder: Path) -> dict[str, Any]:
    """Read the settings; raise UsageError if the folder holds no championship."""
    try:
        settings: dict[str, Any] = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder} holds no championship: {error}") from None
    return settings
