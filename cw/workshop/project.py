"""A bot being written: its game, its language, its folder, and how to run it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from cw.arena.bots import BotSpec, read_bot
from cw.errors import UsageError, choices
from cw.games.registry import load_game, load_strategies
from cw.kits import LANGUAGES, Language, kits_of, new_bot
from cw.matches.positions import Position
from cw.matches.spec import USUAL_PATIENCE, Isolation, MatchSpec
from cw.workshop.folder import BotFolder, TextFile

MINE: Final = "mine"
"""The bot's name in matches."""

USUAL: Final = "python"

MAIN: Final[Mapping[str, str]] = {
    "python": "bot.py",
    "javascript": "bot.js",
    "php": "bot.php",
    "ruby": "bot.rb",
    "go": "bot.go",
    "java": "Bot.java",
    "c": "bot.c",
    "cpp": "bot.cpp",
}
"""The main file of each language's kits."""

LEAST_PLAYERS: Final = 2


@dataclass(frozen=True, slots=True)
class Project:
    """A bot in a folder."""

    game: str
    language: str
    folder: BotFolder
    isolation: Isolation
    others: Mapping[str, BotSpec] = field(default_factory=dict)
    """Opponents other than the built-in strategies, by name."""

    @property
    def how(self) -> Language:
        """How to build and run bots of its language."""
        return LANGUAGES[self.language]

    @property
    def main(self) -> str:
        """Its main file."""
        return MAIN[self.language]

    def rank(self, file: TextFile) -> tuple[bool, bool, str]:
        """Return the sort key of a file: the main one, others of the language, the rest."""
        ending = Path(self.main).suffix
        return file.name != self.main, not file.name.endswith(ending), file.name

    def bot(self, place: Path | None = None) -> BotSpec:
        """Return the bot; `place` is a copy of its folder, None for the folder itself.

        Raises UsageError if its runtime is not installed.
        """
        there = place or self.folder.place
        spec = f"exec:{self.how.run}" if self.how.build else self.main
        return read_bot(MINE, spec, {}, there)

    def match(
        self,
        opponent: str,
        seat: int,
        seed: int,
        *,
        place: Path | None = None,
        position: Position | None = None,
    ) -> MatchSpec:
        """Return a match of the bot in a seat, from 1; the opponent has all others.

        It starts from a position if given. Raises UsageError for an unknown opponent, a seat that
        the match does not have, and a position of another game.
        """
        if position is not None and position.game != self.game:
            raise UsageError(f"this is a replay of {position.game}; the bot plays {self.game}")
        seats = seats_of(self.game) if position is None else len(position.players)
        refuse_opponent(self.game, opponent, self.others)
        refuse_seat(seat, seats)
        other = self.others.get(opponent, BotSpec(opponent, "builtin", opponent))
        names = [opponent, *(f"{opponent}{number}" for number in range(2, seats))]
        bots = [replace(other, name=name) for name in names[: seats - 1]]
        bots.insert(seat - 1, self.bot(place))
        spec = MatchSpec(
            "workshop",
            self.game,
            tuple(bots),
            seed,
            isolation=self.isolation,
            patience=USUAL_PATIENCE,
        )
        return spec if position is None else position.begin(spec)


def seats_of(game: str) -> int:
    """Return the number of players in a match of a game."""
    return max(LEAST_PLAYERS, load_game(game).rules.seats.start)


def refuse_opponent(game: str, opponent: str, others: Collection[str] = ()) -> None:
    """Raise UsageError unless an opponent is a built-in strategy of a game, or one of `others`."""
    names = [*load_strategies(game), *others]
    if opponent not in names:
        raise UsageError(f"{game}: {choices(opponent, names)}")


def refuse_seat(seat: int, seats: int) -> None:
    """Raise UsageError unless a match has the seat, counted from 1."""
    if not 1 <= seat <= seats:
        raise UsageError(f"the seat must be from 1 to {seats}, not {seat}")


def open_project(
    game: str, place: Path, language: str | None = None, isolation: Isolation | None = None
) -> Project:
    """Return the bot in a folder; a new or empty folder gets a kit.

    The language is the given one, or that of the files in the folder. Raises UsageError for an
    unknown game or language, for a folder without a bot, and if the language is ambiguous.
    """
    load_game(game)
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        new_bot(game, language or USUAL, place)
    if not place.is_dir():
        raise UsageError(f"{place} is not a folder: give the folder of the bot")
    choice = language or language_in(place)
    if choice not in LANGUAGES or not (place / MAIN[choice]).is_file():
        offered = choices(choice, LANGUAGES if choice not in LANGUAGES else kits_of(game))
        named = f"no {MAIN[choice]}" if choice in LANGUAGES else f"no bot in {choice}"
        raise UsageError(
            f"{place} contains {named}: give an empty folder for a starter bot; languages: "
            f"{offered}"
        )
    return Project(game, choice, BotFolder(place), isolation or Isolation())


def language_in(place: Path) -> str:
    """Return the language of the bot in a folder; raise UsageError for none or several."""
    there = [name for name, main in MAIN.items() if (place / main).is_file()]
    if not there:
        mains = ", ".join(MAIN.values())
        raise UsageError(f"{place} is not empty, but has no bot: expected one of {mains}")
    if len(there) > 1:
        raise UsageError(
            f"{place} contains several bots: choose one with --language {'|'.join(there)}"
        )
    return there[0]
