"""The seats in the forms of a game: how many, and who takes them by default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final

from cw.errors import UsageError
from cw.games.registry import load_game, load_play_options
from cw.matches.run import check_number
from cw.web.live.next_match import BUILT_IN, PERSON
from cw.web.live.own_bots import OWN

NOBODY: Final = ""


@dataclass(frozen=True, slots=True)
class FormSeats:
    """The seats that the forms of a game offer."""

    numbers: range
    """How many players a match may have; from two on unless the game is for one player only."""
    most: int
    """How many seats a form shows."""
    usual: tuple[str, ...]
    """The built-in strategies chosen by default; the other seats stay empty."""


def form_seats(game: str) -> FormSeats:
    """Return the seats of a game's forms: by default, as few players as the game allows.

    If the play options of the game name more strategies, all of these are chosen.
    """
    play_options, numbers = load_play_options(game), load_game(game).rules.seats
    numbers = numbers[1:] if numbers.start == 1 and len(numbers) > 1 else numbers
    most = min(max(play_options.most_players, numbers[0]), numbers[-1])
    number = min(max(len(play_options.strategies), numbers[0]), most)
    return FormSeats(numbers, most, tuple(islice(cycle(play_options.strategies), number)))


def read_seats(game: str, form: Mapping[str, str]) -> tuple[str, ...]:
    """Return the chosen players in seat order; raise UsageError if that many cannot play.

    The fields are `seat-1` and so on; or, for one person, `hand`, their seat number, and `bot`,
    their opponent. It takes each other seat, unless it is their own bot, which plays once.
    """
    seats = form_seats(game)
    if "hand" in form:
        choices = against(form.get("bot", NOBODY), seats)
        choices.insert(read_hand(form["hand"], seats.numbers[0]) - 1, PERSON)
    else:
        numbers = range(1, seats.most + 1)
        choices = [form.get(f"seat-{number}", NOBODY) for number in numbers]
    players = tuple(choice for choice in choices if choice != NOBODY)
    check_number(game, seats.numbers, len(players))
    return players


def against(bot: str, seats: FormSeats) -> list[str]:
    """Return a person's opponents; their own bot plays once, alongside the usual strategies."""
    others = [f"{BUILT_IN}{name}" for name in seats.usual] if bot.startswith(OWN) else [bot]
    return [bot, *islice(cycle(others), seats.numbers[0])][: seats.numbers[0] - 1]


def read_hand(text: str, seats: int) -> int:
    """Return the number of the seat a person takes, from 1."""
    numbers = [str(number) for number in range(1, seats + 1)]
    if text not in numbers:
        raise UsageError(f"hand must be one of {', '.join(numbers)}, not {text[:60]!r}")
    return int(text)
