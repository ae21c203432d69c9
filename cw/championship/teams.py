"""The teams of a championship, read from a folder with one subfolder per team, or a TOML file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from unicodedata import combining, normalize
from zlib import crc32

from cw.arena.bot_folders import program_in
from cw.arena.bots import SECRET_SETTINGS, SETTINGS, BotSpec, from_environment, read_bot
from cw.arena.launch import program_folder
from cw.documents import read_toml
from cw.errors import UsageError, short
from cw.files import is_link

TEAM_ID: Final = re.compile(r"[A-Za-z0-9-]{1,39}")
OTHERS: Final = re.compile(r"[^A-Za-z0-9]+")
LONGEST: Final = 39

LETTERS: Final = str.maketrans(
    {"ß": "ss", "Æ": "Ae", "æ": "ae", "Œ": "Oe", "œ": "oe", "Ø": "O", "ø": "o", "Å": "A", "å": "a",
     "Ł": "L", "ł": "l", "Đ": "D", "đ": "d", "Ð": "D", "ð": "d", "Þ": "Th", "þ": "th", "ı": "i"}
)  # fmt: skip
"""Letters that Unicode does not decompose into an ASCII letter and a mark."""


def team_id(folder: str) -> str:
    """Return the id of a folder's team: the folder's name, if it is a valid id.

    Otherwise letters lose their accents, and all other characters become hyphens. A name without
    Latin letters and digits becomes a number that depends only on the name.

    >>> team_id("Lea Müller"), team_id("ann-2")
    ('Lea-Muller', 'ann-2')
    """
    if TEAM_ID.fullmatch(folder):
        return folder
    composed = normalize("NFC", folder)
    parts = normalize("NFKD", composed.translate(LETTERS))
    plain = OTHERS.sub("-", "".join(sign for sign in parts if not combining(sign))).strip("-")
    # A checksum, because `hash(str)` differs between processes.
    return plain[:LONGEST].strip("-") or f"team-{crc32(composed.encode(errors='replace')):08x}"


ABOUT: Final = "team.toml"
OTHERWISE: Final = f", or add {ABOUT} with `run` or `bot`"
LARGEST: Final = 16 * 1024
"""Maximum bytes of a team's file."""

LARGEST_OF_ALL: Final = 1024 * 1024
"""Maximum bytes of the file of all teams; 500 teams need a tenth of that."""

LONGEST_NAME: Final = 100
"""Maximum characters of a team's or a member's name."""

MOST_MEMBERS: Final = 30
KEYS: Final = ("name", "members", "run", "bot", "parallel", *SETTINGS)
"""The keys that a team may declare."""


@dataclass(frozen=True, slots=True)
class Team:
    """A team and its bot; the team's id is the bot's name in every match."""

    id: str
    name: str
    members: tuple[str, ...]
    bot: BotSpec
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    """The bot's secret settings."""
    parallel: int | None = None
    """Maximum number of matches that its bot plays concurrently; None for no limit."""


@dataclass(frozen=True, slots=True)
class UnfitTeam:
    """A team that cannot play as declared, with the reason."""

    id: str
    problem: str


@dataclass(frozen=True, slots=True)
class Entrants:
    """All teams of a folder or file, in order of id: those that can play and those that cannot."""

    fit: tuple[Team, ...]
    unfit: tuple[UnfitTeam, ...]


def read_teams(place: Path, game: str) -> tuple[Team, ...]:
    """Read the teams of a folder or a TOML file, sorted by id; raise UsageError if invalid."""
    entrants = read_entrants(place, game)
    refuse(entrants.unfit)
    return enough(entrants.fit, place)


def read_entrants(place: Path, game: str) -> Entrants:
    """Read every team; raise UsageError like `read_each`."""
    teams = read_each(place, game)
    return Entrants(
        tuple(team for team in teams if isinstance(team, Team)),
        tuple(team for team in teams if isinstance(team, UnfitTeam)),
    )


def refuse(unfit: Sequence[UnfitTeam], advice: str = "") -> None:
    """Raise UsageError with the problems and the advice if any team is unfit."""
    problems = list(dict.fromkeys(team.problem for team in unfit))
    if len(problems) == 1:
        raise UsageError(f"{problems[0]}{advice}")
    if problems:
        listed = "".join(f"\n  {problem}" for problem in problems)
        raise UsageError(f"{len(unfit)} teams cannot play{advice}:{listed}")


def enough(teams: tuple[Team, ...], place: Path, left_out: int = 0) -> tuple[Team, ...]:
    """Return the teams; raise UsageError if there are fewer than two.

    `left_out` is the number of other teams, for the message.
    """
    if len(teams) < 2:
        those = f"; {left_out} more cannot play" if left_out else ""
        number = "1 team" if len(teams) == 1 else f"{len(teams)} teams"
        raise UsageError(f"{place} contains {number}{those}: a championship needs 2 or more")
    return teams


def read_each(place: Path, game: str) -> tuple[Team | UnfitTeam, ...]:
    """Read every team, including those that cannot play.

    Raises UsageError if there is no team, or if two programs share a folder.
    """
    if place.is_dir():
        folders = sorted(p for p in place.iterdir() if p.is_dir() and not p.name.startswith("."))
        teams = alone_under_their_ids(folders, [read_one(folder, game) for folder in folders])
    else:
        tables = sorted(read_tables(place).items())
        teams = [fit_or_not(name, partial(make_team, name, it, place)) for name, it in tables]
        refuse_common_folders(place, [team for team in teams if isinstance(team, Team)])
    if not teams:
        raise UsageError(f"{place} contains no team")
    return tuple(teams)


def read_one(folder: Path, game: str) -> Team | UnfitTeam:
    """Read a folder's team, whether it can play or not."""
    return fit_or_not(team_id(folder.name), partial(read_subfolder, folder, game))


def alone_under_their_ids(
    folders: Sequence[Path], teams: Sequence[Team | UnfitTeam]
) -> list[Team | UnfitTeam]:
    """Return the folders' teams sorted by id; teams that share an id cannot play."""
    owners: dict[str, list[Path]] = {}
    for folder, team in zip(folders, teams, strict=True):
        owners.setdefault(team.id, []).append(folder)
    return sorted((with_own_id(team, owners[team.id]) for team in teams), key=lambda team: team.id)


def with_own_id(team: Team | UnfitTeam, folders: Sequence[Path]) -> Team | UnfitTeam:
    """Return a team, or an UnfitTeam if several folders have its id."""
    if len(folders) == 1:
        return team
    names = " and ".join(map(str, folders))
    return UnfitTeam(team.id, f"{names} have the same id, {team.id}: rename one of the folders")


def fit_or_not(team: str, read: Callable[[], Team]) -> Team | UnfitTeam:
    """Return the result of `read`, or an UnfitTeam with the UsageError that it raises."""
    try:
        return read()
    except UsageError as error:
        return UnfitTeam(team, str(error))


def read_subfolder(folder: Path, game: str) -> Team:
    """Read the team of a folder; raise UsageError for a link and for a web service.

    A link may lead to another team's program, and a URL to a service that trusts this host.
    """
    if is_link(folder):
        raise UsageError(f"{folder} is a link: replace it with a copy of the folder")
    team = read_folder(folder, game)
    if team.bot.kind == "http":
        raise UsageError(
            f"{folder}: {ABOUT} cannot name a web service; only a file of all teams can"
        )
    return team


def read_folder(folder: Path, game: str) -> Team:
    """Read the team of a folder: its program, or what team.toml declares.

    The folder was written by the team, so it must not refer to files outside the folder or to our
    environment variables.
    """
    about = told_in(folder)
    check_keys(about, folder)
    for key in SETTINGS:
        if str(about.get(key, "")).startswith("env:"):
            raise UsageError(
                f"{folder}: env: is allowed only in a file of all teams, not for {key}"
            )
    named = {"name": normalize("NFC", folder.name)} | about
    spec = folder_spec(folder, about, game)
    return make_team(team_id(folder.name), named | {"bot": spec}, folder, folder)


def folder_spec(folder: Path, about: Mapping[str, Any], game: str) -> str:
    """Return the bot argument of a folder: its `run` command, its `bot`, or its program."""
    for key in ("run", "bot"):
        value = about.get(key, "")
        if not isinstance(value, str):
            raise UsageError(f"{folder}: `{key}` must be text, not {short(value)}")
    if "run" in about:
        return f"exec:{about['run']}"
    return str(about["bot"]) if "bot" in about else program_in(folder, game, OTHERWISE).name


def told_in(folder: Path) -> dict[str, Any]:
    """Return the contents of team.toml, or {} if there is none.

    Raises UsageError for a link, which may lead to another team's declaration, and for a pipe,
    which would be read forever.
    """
    file = folder / ABOUT
    if file.is_symlink() or (file.exists() and not file.is_file()):
        raise UsageError(f"{file} must be a file, not a link, a folder or a pipe")
    return read_toml(file, LARGEST) if file.exists() else {}


def read_tables(file: Path) -> dict[str, Any]:
    """Read the tables `[teams.ID]`, with `bot` and the other keys that a team may declare."""
    tables = read_toml(file, LARGEST_OF_ALL).get("teams")
    if not isinstance(tables, dict):
        raise UsageError(f"{file} must contain a table [teams.ID] for each team")
    return tables


def refuse_common_folders(file: Path, teams: Sequence[Team]) -> None:
    """Raise UsageError if two programs share a folder, where each team could read the other's."""
    owners: dict[Path, str] = {}
    for team in teams:
        folder = program_folder(team.bot)
        if folder is not None and owners.setdefault(folder, team.id) != team.id:
            raise UsageError(
                f"{file}: the bots of {owners[folder]} and {team.id} both lie in {folder}:"
                " give each team a folder of its own"
            )


def make_team(team: str, about: Any, place: Path, folder: Path | None = None) -> Team:
    """Create a team from its declaration; with a `folder`, it may only refer to files in it."""
    if not TEAM_ID.fullmatch(team):
        raise UsageError(
            f"{place}: {team!r} must be 1 to 39 letters, digits or hyphens; put its display"
            " name into `name`"
        )
    check_keys(about, place)
    members, name = about.get("members", []), about.get("name", team)
    if not (isinstance(members, list) and len(members) <= MOST_MEMBERS and all(map(fits, members))):
        raise UsageError(
            f"{place}: members of {team} must be a list of names: at most {MOST_MEMBERS}, of"
            f" {LONGEST_NAME} printable characters each"
        )
    if not fits(name):
        raise UsageError(
            f"{place}: the name of {team} must be at most {LONGEST_NAME} printable characters"
        )
    if not isinstance(about.get("bot"), str):
        raise UsageError(f"{place}: team {team} needs a bot")
    settings = settings_of(team, about, place)
    public = {key: value for key, value in settings.items() if key not in SECRET_SETTINGS}
    secrets = {key: value for key, value in settings.items() if key in SECRET_SETTINGS}
    spec = about["bot"] if folder else beside(about["bot"], place)
    bot = read_bot(team, spec, public, folder)
    return Team(
        team, name.strip() or team, tuple(members), bot, secrets, at_once(team, about, bot, place)
    )


def fits(name: Any) -> bool:
    """Return whether a value is a valid team or member name."""
    return isinstance(name, str) and name.isprintable() and len(name) <= LONGEST_NAME


def check_keys(about: Any, place: Path) -> None:
    """Raise UsageError for keys that a team must not declare."""
    if not isinstance(about, dict):
        raise UsageError(f"{place}: a team is a table, not {about!r}"[:300])
    for key in about:
        if key not in KEYS:
            raise UsageError(f"{place}: unknown key {key!r}; a team has {', '.join(KEYS)}")


def settings_of(team: str, about: Mapping[str, Any], place: Path) -> dict[str, str]:
    """Return the settings of a team's bot; `env:VAR` is read from the environment.

    The username defaults to the team's id.
    """
    settings = {"username": team} | {key: about[key] for key in SETTINGS if key in about}
    for key, value in settings.items():
        if not isinstance(value, str):
            raise UsageError(f"{place}: the {key} of {team} must be text")
    return {key: from_environment(value) for key, value in settings.items()}


def at_once(team: str, about: Mapping[str, Any], bot: BotSpec, place: Path) -> int | None:
    """Return how many matches a bot plays concurrently; the default for a web service is one.

    A program is started for each match, so there is no limit by default.
    """
    usual = 1 if bot.kind == "http" else None
    number = about.get("parallel", usual)
    if number is not None and (type(number) is not int or number < 1):
        raise UsageError(f"{place}: `parallel` of {team} must be a number from 1, not {number!r}")
    return number


def beside(spec: str, file: Path) -> str:
    """Return a bot argument with its path resolved against the folder of the declaring file."""
    kind = spec.partition(":")[0]
    if kind in ("http", "https", "builtin", "python", "exec"):
        return spec
    return str(file.parent / spec)
