"""The settings of a championship; they never change once it has started."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from cw import documents
from cw.championship.entries import LineFormat, MatchLines
from cw.championship.recorded import RecordedLines
from cw.championship.teams import Team, read_entrants, refuse
from cw.errors import UsageError
from cw.files import make_folder, write_whole
from cw.games.registry import load_endings, load_game, load_protocol
from cw.games.rules import Json
from cw.league.contest_formats import Format
from cw.league.contests import Contest
from cw.league.fixtures import Fixture
from cw.league.line_ups import FREE_FOR_ALL
from cw.matches.spec import SandboxPolicy

SETTINGS: Final = "championship.json"

CIRCUIT_WARS: Final[Mapping[str, Json]] = {"size": 7, "timeout": 3.0, "openings": 0}
"""The default options of Circuit Wars."""

TIE_BREAK_OPENING: Final = 4
"""Random segments with which a tie-break match starts, if the game has openings."""


@dataclass(frozen=True, slots=True)
class ChampionshipSettings:
    """The teams, the game, and who meets whom."""

    teams: tuple[str, ...]
    place: str
    """The path of the teams' folder or file."""
    game: str = "circuit-wars"
    format: str = "championship"
    seed: int = 1
    groups: int | None = None
    """Number of groups; None for as many as give every team at most seven opponents."""
    players: int | None = None
    """Players in a match of a free-for-all; None for all teams, up to the seats of the game."""
    rounds: int | None = None
    """Number of rounds of a free-for-all or a ladder."""
    options: dict[str, Json] = field(default_factory=dict)
    """Options of the game and of its protocol."""
    sandbox: SandboxPolicy = "auto"
    """Whether programs run in bubblewrap: only if it works, always, or never."""
    names: dict[str, str] = field(default_factory=dict)
    """The display names of teams, by id, where they differ from the id."""
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the bots' authors, by team id."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Teams of the same folder or file that do not take part, by id, with the reason."""

    def name(self, team: str) -> str:
        """Return the display name of a team."""
        return self.names.get(team, team)

    def contest(self) -> Contest:
        """Create the contest; raise UsageError if the settings are invalid."""
        contest_format = Format(
            self.format, groups=self.groups, players=self.players, rounds=self.rounds
        )
        return contest_format.contest(self.teams, self.seed, load_game(self.game).rules.seats)

    def lines(self) -> LineFormat:
        """Return the format of the game's matches in the journal."""
        if self.game == "circuit-wars":
            return RecordedLines(self.options.get("size", 7))
        return MatchLines(load_endings(self.game).forfeit, self.options)

    def match_seed(self, fixture: Fixture) -> int:
        """Return the seed of a match; both matches of a meeting share it."""
        return Random(f"{self.seed} {fixture.meeting}").randrange(2**31)

    def match_options(self, fixture: Fixture) -> dict[str, Json]:
        """Return a match's options; tie-break matches get random openings if supported.

        Such a match must not start like those that left its teams equal.
        """
        if not fixture.tie_break or "openings" not in self.options:
            return self.options
        opening = min(TIE_BREAK_OPENING, self.options.get("size", TIE_BREAK_OPENING) ** 2)
        return {**self.options, "openings": max(self.options["openings"], opening)}

    def check(self) -> None:
        """Raise UsageError unless the contest can be played with these options."""
        self.contest()
        rules, known = load_game(self.game).rules, load_protocol(self.game).options
        options = {name: value for name, value in self.options.items() if name not in known}
        try:
            rules.new(self.seats_of_a_match(rules.seats), self.seed, **options)
        except UsageError as error:
            raise UsageError(f"{self.game}: {error}") from None

    def seats_of_a_match(self, seats: range) -> int:
        """Return the number of players in a match."""
        if self.format != FREE_FOR_ALL:
            return 2
        return self.players or min(len(self.teams), seats[-1])


def usual_options(game: str, chosen: Mapping[str, Json]) -> dict[str, Json]:
    """Return the chosen options of a game, completed with the defaults of a championship."""
    if game != "circuit-wars":
        return dict(chosen)
    options = {**CIRCUIT_WARS, **chosen}
    openings, size = options["openings"], options["size"]
    if isinstance(openings, int) and isinstance(size, int):
        options["openings"] = min(openings, size**2)
    return options


def is_begun(folder: Path) -> bool:
    """Return whether a folder contains a championship."""
    return (folder / SETTINGS).exists()


def refuse_begun(folder: Path) -> None:
    """Raise UsageError if a folder contains a championship."""
    if is_begun(folder):
        raise UsageError(
            f"{folder} contains a championship already: resume it, or choose another folder"
        )


def begin(folder: Path, settings: ChampionshipSettings) -> None:
    """Write the settings of a new championship; raise UsageError if there is one already."""
    refuse_begun(folder)
    settings.check()
    make_folder(folder)
    write_whole(folder / SETTINGS, json.dumps(asdict(settings), indent=2).encode() + b"\n")


def settings_of(folder: Path) -> ChampionshipSettings:
    """Read the settings of a championship; raise UsageError if the folder contains none."""
    try:
        document: Any = json.loads((folder / SETTINGS).read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder} contains no championship: {error}") from None
    try:
        return documents.convert(document, ChampionshipSettings)
    except msgspec.ValidationError as error:
        raise UsageError(f"{folder / SETTINGS}: the settings are broken: {error}") from None


def names_of(teams: Sequence[Team]) -> dict[str, str]:
    """Return the display names of teams, by id, where they differ from the id.

    Teams with the same name are distinguished by their ids.
    """
    times = Counter(team.name.casefold() for team in teams)
    return {
        team.id: team.name if times[team.name.casefold()] == 1 else f"{team.name} ({team.id})"
        for team in teams
        if team.name != team.id
    }


def chosen_teams(settings: ChampionshipSettings) -> tuple[Team, ...]:
    """Read the teams again; raise UsageError if they differ from those in the settings."""
    entrants = read_entrants(Path(settings.place), settings.game)
    refuse([team for team in entrants.unfit if team.id in settings.teams])
    teams = {team.id: team for team in entrants.fit if team.id not in settings.left_out}
    unknown = {team.id for team in entrants.unfit} - {*settings.teams, *settings.left_out}
    if unknown or set(teams) != set(settings.teams):
        raise UsageError(
            f"the teams in {settings.place} differ from those the championship began with"
        )
    return tuple(teams[team] for team in settings.teams)
