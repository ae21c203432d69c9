"""A game between agents: what both kinds of environments have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from random import Random
from typing import Any, Final

from rich.console import Console

from cw.envs.translations import Arrays, OwnDocuments, Table, Translation
from cw.errors import UsageError, short
from cw.games.registry import load_game, load_spaces, load_strategy, load_terminal
from cw.games.rules import Json, Outcome, Player

LARGEST_SEED: Final = 2**31 - 1
BUILTIN: Final = "builtin:"


class AgentGame:
    """A game whose players are agents, and built-in strategies in the seats that are given away."""

    def __init__(
        self, name: str, players: int | None, bots: Mapping[str, str], options: Mapping[str, Json]
    ) -> None:
        """Seat everybody; raise UsageError for what makes no game."""
        game, spaces = load_game(name), load_spaces(name)
        number = fewest(game.rules.seats) if players is None else players
        if number not in game.rules.seats:
            least, most = game.rules.seats.start, game.rules.seats.stop - 1
            raise UsageError(f"{name} is for {least} to {most} players, not {short(players)}")
        settled = options if spaces is None else spaces.settled(number, options)
        self.table = Table(game, number, settled)
        seats = {
            f"player_{seat}": player
            for seat, player in enumerate(game.rules.players(self.table.state))
        }
        self.bots = {seats[agent]: bot for agent, bot in read_bots(bots, seats).items()}
        self.seats = {agent: player for agent, player in seats.items() if agent not in bots}
        """Agent -> its player."""
        self.simultaneous = len(self.table.to_move) > 1
        self.translation: Translation = (
            OwnDocuments(self.table) if spaces is None else Arrays(spaces, self.table)
        )
        self.observation_spaces = {
            agent: self.translation.observation_space(player)
            for agent, player in self.seats.items()
        }
        self.action_spaces = {
            agent: self.translation.action_space(player) for agent, player in self.seats.items()
        }
        self.rng = Random()
        self.reset(0)

    @property
    def name(self) -> str:
        """The name of the environment, with the version of the rules."""
        game = self.table.game
        return f"{game.name.replace('-', '_')}_v{game.version}"

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None while the game goes on."""
        return self.table.game.rules.outcome(self.table.state)

    def reset(self, seed: int | None) -> None:
        """Begin the game of a seed; without one, that of the next seed after the last given one."""
        if seed is not None:
            self.rng = Random(seed)
        drawn = self.rng.randint(0, LARGEST_SEED) if seed is None else seed
        self.table.start(drawn)
        self.strategies = {
            player: load_strategy(self.table.game.name, bot)(player, Random(f"{drawn} {player}"))
            for player, bot in self.bots.items()
        }
        self._play_alone()

    def due(self) -> list[str]:
        """Return the agents who owe an action, in seat order."""
        to_move = self.table.to_move
        return [agent for agent, player in self.seats.items() if player in to_move]

    def turn(self, actions: Mapping[str, Any]) -> None:
        """Play a turn with the actions of the agents, and on until one of them owes another."""
        self._play({self.seats[agent]: action for agent, action in actions.items()})
        self._play_alone()

    def _play_alone(self) -> None:
        while self.outcome is None and not self.due():
            self._play({})

    def _play(self, actions: Mapping[Player, Any]) -> None:
        table = self.table
        of_bots = {
            player: self.strategies[player].act(table.view(player))
            for player in table.to_move
            if player in self.strategies
        }
        table.state = table.game.rules.step(table.state, {**of_bots, **actions})

    def observe(self, agent: str) -> Any:
        """Return what an agent sees."""
        return self.translation.observation(self.seats[agent])

    def read(self, agent: str, given: Any) -> Any:
        """Return an agent's action for the rules; raise UsageError for what is none."""
        try:
            return self.translation.action(self.seats[agent], given)
        except UsageError as error:
            raise UsageError(f"{agent}: {error}") from None

    def rewards(self) -> dict[str, float]:
        """Return what each agent has from the outcome, 0 while there is none.

        It is the share of the others who stand behind it, less the share of those before it: from
        -1 for the last to 1 for the first; with two players 1, 0 or -1.
        """
        outcome = self.outcome
        if outcome is None:
            return dict.fromkeys(self.seats, 0.0)
        players = self.table.game.rules.players(self.table.state)
        return {agent: reward(outcome, player, players) for agent, player in self.seats.items()}

    def drawn(self) -> str:
        """Return the board as it is drawn in a terminal, with its colours as escapes."""
        game, shown = self.table.game, StringIO()
        frame = game.codec.view_to_json(game.rules.observe(self.table.state, None))
        console = Console(file=shown, force_terminal=True, color_system="256", soft_wrap=True)
        console.print(load_terminal(game.name)(frame))
        return shown.getvalue()


def read_bots(bots: Mapping[str, str], seats: Mapping[str, Player]) -> dict[str, str]:
    """Return the strategies by agent, of `builtin:NAME`; raise UsageError for anything else."""
    for agent, bot in bots.items():
        if agent not in seats:
            raise UsageError(f"there is no agent {short(agent)}; they are {', '.join(seats)}")
        if not bot.startswith(BUILTIN):
            raise UsageError(f"{agent}: environments seat {BUILTIN}NAME only, not {short(bot)}")
    if len(bots) == len(seats):
        raise UsageError("all seats are given to bots: leave one to an agent")
    return {agent: bot.removeprefix(BUILTIN) for agent, bot in bots.items()}


def fewest(seats: range) -> int:
    """Return the smallest number of players that can play against each other."""
    return next((number for number in seats if number > 1), seats.start)


def reward(outcome: Outcome, player: Player, players: Sequence[Player]) -> float:
    """Return the reward of a player; those without a rank stand behind all who have one."""
    own, *others = (
        outcome.ranks.get(one, len(players) + 1)
        for one in (player, *(other for other in players if other != player))
    )
    return sum((rank > own) - (rank < own) for rank in others) / max(1, len(others))
