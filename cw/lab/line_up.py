"""The seating of matches that compare two bots, and their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, cycle, islice
from typing import Final

from cw.arena.bots import BotSpec, read_bots
from cw.errors import UsageError
from cw.games.codec import Game
from cw.games.registry import load_game, load_play_options, load_protocol, load_strategies
from cw.games.rules import Json
from cw.matches.run import check_number, parted
from cw.matches.spec import Isolation, MatchSpec, Secrets

NOTHING: Final[Mapping[str, Json]] = {}


@dataclass(frozen=True, slots=True)
class LineUp:
    """Two bots to compare, and those that fill the other seats of their matches."""

    game: str
    bots: tuple[BotSpec, ...]
    """The new bot, the old one, then the others."""
    options: dict[str, Json] = field(default_factory=dict)
    isolation: Isolation = field(default_factory=Isolation)
    secrets: Secrets = field(default_factory=dict)

    @property
    def new(self) -> str:
        """The name of the bot that may be stronger."""
        return self.bots[0].name

    @property
    def old(self) -> str:
        """The name of the bot that it is compared with."""
        return self.bots[1].name

    @property
    def new_bot(self) -> BotSpec:
        """The bot that may be stronger."""
        return self.bots[0]

    @property
    def seatings(self) -> list[tuple[BotSpec, ...]]:
        """The order of the seats in each match of a pair.

        Each bot has each seat once. If there are others, all is repeated with the new and the old
        bot swapped: rotations alone would always seat one behind the other.
        """
        new, old, *others = self.bots
        orders = [(new, old, *others)] + ([(old, new, *others)] if others else [])
        return [(*order[at:], *order[:at]) for order in orders for at in range(len(order))]

    def pair(self, label: str, seed: int) -> list[MatchSpec]:
        """Return the matches of a pair: the same seed in every seating."""
        return [
            MatchSpec(
                f"{label}-{number}", self.game, order, seed, self.options, isolation=self.isolation
            )
            for number, order in enumerate(self.seatings)
        ]

    def score(self, spec: MatchSpec, ranks: Sequence[int | None]) -> float:
        """Return the score of the new bot against the old one in a match, from 0 to 1.

        With others in the match, it is based on the share of opponents that the new bot outranks,
        minus the old bot's.
        """
        seats = [bot.name for bot in spec.bots]
        lead = outranked(ranks, seats.index(self.new)) - outranked(ranks, seats.index(self.old))
        return (1 + lead) / 2


def outranked(ranks: Sequence[int | None], seat: int) -> float:
    """Return the share of the opponents in a match that a seat outranked, ties half.

    A player without a rank is behind all ranked ones.

    >>> outranked([1, 3, 3, 2], 0), outranked([1, 3, 3, 2], 1)
    (1.0, 0.16666666666666666)
    """
    last = len(ranks) + 1
    places = [last if rank is None else rank for rank in ranks]
    mine, others = places[seat], places[:seat] + places[seat + 1 :]
    return sum((mine < other) + (mine == other) / 2 for other in others) / len(others)


def varying_option(line_up: LineUp) -> str:
    """Return an option of the game, `KEY=VALUE`, that makes each seed start differently.

    It is the first suitable one that pages offer, or "" if there is none, or if seeds already start
    differently.

    >>> varying_option(read_line_up("paint", ["builtin:greedy", "builtin:walker"]))
    'obstacle_percent=10'
    """
    game, protocol = load_game(line_up.game), load_protocol(line_up.game)
    options, _ = parted(line_up.options, protocol)
    if starts_vary(game, len(line_up.bots), options):
        return ""
    for choice in load_play_options(line_up.game).choices:
        for value in choice.values:
            offered = {**options, choice.option: value}
            if offered != options and starts_vary(game, len(line_up.bots), offered):
                return f"{choice.option}={value}"
    return ""


def starts_vary(game: Game, players: int, options: Mapping[str, Json]) -> bool:
    """Return whether two seeds start differently, as far as players see."""
    views: list[Json] = []
    for seed in (1, 2):
        try:
            state = game.rules.new(players, seed, **options)
        except UsageError:
            return False
        first = game.rules.players(state)[0]
        views.append(game.codec.view_to_json(game.rules.observe(state, first)))
    return bool(views[0] != views[1])


def read_line_up(
    game: str,
    bots: Sequence[str],
    players: int | None = None,
    settings: Sequence[str] = (),
    options: Mapping[str, Json] = NOTHING,
) -> LineUp:
    """Read the bots of a comparison and their fillers; raise UsageError if it cannot be played.

    `bots` are arguments: the new one, the old one, and any others. If a match has or needs more
    players, built-in strategies fill the seats, strongest first. Options that keep matches from
    being alike are set unless given.
    """
    strategies = load_strategies(game)
    seats = load_game(game).rules.seats
    number = players or max(len(bots), seats.start)
    if number < len(bots):
        raise UsageError(f"--players {number} is too few for {len(bots)} bots")
    check_number(game, seats, number)
    builtins = cycle([f"builtin:{name}" for name in reversed(list(strategies))])
    texts = list(islice(chain(bots, builtins), number))
    arguments = read_bots(texts, settings, list(strategies))
    measured = load_play_options(game).measured
    return LineUp(game, tuple(arguments.bots), {**measured, **options}, secrets=arguments.secrets)
