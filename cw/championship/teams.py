"""The teams of a championship: a folder with a folder for each, or a TOML file."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cw.arena.bots import BotSpec, read_bot, split_command
from cw.arena.sources import on_search_path, program_folder
from cw.errors import UsageError

TEAM_ID: Final = re.compile(r"[A-Za-z0-9-]{1,39}")
CLIENT: Final = "game_ai.py"
ABOUT: Final = "team.toml"
LARGEST: Final = 64 * 1024
KEYS: Final = frozenset({"name", "members", "run", "bot"})


@dataclass(frozen=True, slots=True)
class Team:
    """A team and its bot. Its id is the name by which its client must register."""

    id: str
    name: str
    members: tuple[str, ...]
    bot: BotSpec


def read_teams(place: Path) -> tuple[Team, ...]:
    """Read the teams of a folder or of a TOML file, by id; raise UsageError for what is none."""
    if place.is_dir():
        folders = sorted(p for p in place.iterdir() if p.is_dir() and not p.name.startswith("."))
        teams = [read_folder(folder) for folder in folders]
    else:
        teams = read_file(place)
    if len(teams) < 2:
        raise UsageError(f"{place} holds {len(teams)} teams; a championship needs 2 or more")
    return tuple(teams)


def read_folder(folder: Path) -> Team:
    """Read the team of a folder: game_ai.py, or the command that team.toml tells."""
    about = read_toml(folder / ABOUT) if (folder / ABOUT).exists() else {}
    command = about.get("run")
    if command is None:
        if not (folder / CLIENT).is_file():
            raise UsageError(f"{folder} has neither {CLIENT} nor a command `run` in {ABOUT}")
        command = shlex.join([sys.executable, str((folder / CLIENT).absolute())])
    return make_team(folder.name, about, located(str(command), folder), folder)


def located(command: str, folder: Path) -> str:
    """Return a command in which the files of the folder are named by their whole path."""
    try:
        parts = split_command(command)
    except UsageError as error:
        raise UsageError(f"{folder}: {error}") from None
    return "exec:" + shlex.join(within(folder, part) for part in parts)


def within(folder: Path, part: str) -> str:
    """Return the whole path of a file of a team's folder; other parts of its command stay.

    Raises UsageError for a file elsewhere: the team would be given a copy of the folder around it.
    """
    file = folder / part
    # Unlike Path.is_file it takes a part of any length.
    if os.path.isfile(file) and file.resolve().is_relative_to(folder.resolve()):  # noqa: PTH113
        return str(file.absolute())
    if os.path.isfile(part) and part != sys.executable and not on_search_path(Path(part)):  # noqa: PTH113
        raise UsageError(f"{folder}: the command names {part!r}, which is outside of the folder")
    return part


def read_file(file: Path) -> list[Team]:
    """Read teams from `[teams.ID]` tables with `bot`, and `name` and `members` where known."""
    tables = read_toml(file).get("teams")
    if not isinstance(tables, dict):
        raise UsageError(f"{file} must hold a table [teams.ID] for each team")
    teams = [make_team(name, about, None, file) for name, about in sorted(tables.items())]
    refuse_common_folders(file, teams)
    return teams


def refuse_common_folders(file: Path, teams: Sequence[Team]) -> None:
    """Raise UsageError for two programs in one folder: each team could read the other's."""
    owners: dict[Path, str] = {}
    for team in teams:
        folder = program_folder(team.bot)
        if folder is not None and owners.setdefault(folder, team.id) != team.id:
            raise UsageError(
                f"{file}: the bots of {owners[folder]} and {team.id} both lie in {folder}:"
                " give each team a folder of its own"
            )


def make_team(team: str, about: Any, spec: str | None, place: Path) -> Team:
    """Make a team of what is said about it."""
    if not TEAM_ID.fullmatch(team):
        raise UsageError(f"{place}: {team!r} must be 1 to 39 letters, digits or hyphens")
    if not isinstance(about, dict) or not set(about) <= KEYS:
        raise UsageError(f"{place}: a team has {', '.join(sorted(KEYS))}, not {about!r}"[:300])
    members, name, said = about.get("members", []), about.get("name", team), about.get("bot")
    if not isinstance(members, list) or not all(isinstance(m, str) for m in members):
        raise UsageError(f"{place}: members of {team} must be a list of names")
    if not isinstance(name, str) or not name.isprintable() or len(name) > 100:
        raise UsageError(f"{place}: the name of {team} must be at most 100 printable signs")
    if spec is None and not isinstance(said, str):
        raise UsageError(f"{place}: team {team} needs a bot")
    return Team(team, name, tuple(members), read_bot(team, spec or str(said), {}))


def read_toml(file: Path) -> dict[str, Any]:
    """Read a small TOML file."""
    try:
        with file.open("rb") as source:
            return tomllib.loads(source.read(LARGEST).decode())
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{file}: {error}") from None
