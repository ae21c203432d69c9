"""The seats of the forms of a game: how many there are, and who sits there by default."""

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
    """The seats that forms of a game offer."""

    numbers: range
    """How many players a match may have, from two on if the game is not for one alone."""
    most: int
    """How many seats a form shows."""
    usual: tuple[str, ...]
    """The built-in strategies that are chosen by default; nobody sits on the other seats."""


def form_seats(game: str) -> FormSeats:
    """Return the seats of a game's forms: by default as few are taken as the game allows.

    A game whose play options name more strategies begins with all of these.
    """
    play_options, numbers = load_play_options(game), load_game(game).rules.seats
    numbers = numbers[1:] if numbers.start == 1 and len(numbers) > 1 else numbers
    most = min(max(play_options.most_players, numbers[0]), numbers[-1])
    number = min(max(len(play_options.strategies), numbers[0]), most)
    return FormSeats(numbers, most, tuple(islice(cycle(play_options.strategies), number)))


def read_seats(game: str, form: Mapping[str, str]) -> tuple[str, ...]:
    """Return who is chosen, in seat order; raise UsageError if so many cannot play.

    The seats are `seat-1` and on, or, for one person, `hand`, the number of their seat, and `bot`,
    which plays against them: on each other seat if it is not their own bot.
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
    """Return who plays against a person; one's own bot plays once, beside the usual strategies."""
    others = [f"{BUILT_IN}{name}" for name in seats.usual] if bot.startswith(OWN) else [bot]
    return [bot, *islice(cycle(others), seats.numbers[0])][: seats.numbers[0] - 1]


def read_hand(text: str, seats: int) -> int:
    """Return the number of the seat that a person takes, from 1."""
    numbers = [str(number) for number in range(1, seats + 1)]
    if text not in numbers:
        raise UsageError(f"hand must be one of {', '.join(numbers)}, not {text[:60]!r}")
    return int(text)
