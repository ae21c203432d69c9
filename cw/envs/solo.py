"""A game as a Gymnasium environment: one agent against bots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cw.envs.agent_game import AgentGame, fewest
from cw.envs.environments import RENDER_MODES, check_mode, rendered
from cw.envs.opponents import BUILTIN, Bot
from cw.errors import UsageError
from cw.games.registry import load_game, load_strategies
from cw.games.rules import Json

AGENT: Final = "player_0"
RANDOM: Final = "random"


def gym_env(
    game: str,
    opponent: Bot | None = None,
    *,
    agent: str = AGENT,
    players: int | None = None,
    render_mode: str | None = None,
    **options: Json,
) -> SoloEnv:
    """Return a game of one agent, with an opponent in each of the other seats.

    `opponent` is a bot as in `bots` of `aec_env`, None for a weak strategy; `agent` is the seat of
    the agent; the other arguments are the same. Raises UsageError if they are invalid.

    >>> env = gym_env("hexagon", "builtin:greedy", size=3)
    >>> observation, info = env.reset(seed=1)
    >>> over = False
    >>> while not over:
    ...     action = env.action_space.sample(observation["action_mask"])
    ...     observation, reward, over, truncated, info = env.step(action)
    >>> reward in (-1.0, 0.0, 1.0)
    True
    """
    number = fewest(load_game(game).rules.seats) if players is None else players
    seats = [f"player_{seat}" for seat in range(number)]
    if agent not in seats:
        raise UsageError(f"there is no agent {agent!r}; choose one of {', '.join(seats)}")
    chosen = weak(game) if opponent is None else opponent
    bots: Mapping[str, Bot] = {seat: chosen for seat in seats if seat != agent}
    return SoloEnv(AgentGame(game, players, bots, options), render_mode)


def weak(game: str) -> Bot:
    """Return the strategy `random` of a game, or its first one if it has none."""
    strategies = load_strategies(game)
    return f"{BUILTIN}{RANDOM if RANDOM in strategies else next(iter(strategies))}"


class SoloEnv(gymnasium.Env[Any, Any]):
    """A game of one agent."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, game: AgentGame, render_mode: str | None) -> None:
        """Seat the agent; the first game begins with `reset`."""
        check_mode(render_mode)
        self.game = game
        (self.agent,) = game.seats
        self.render_mode = render_mode
        self.observation_space = game.observation_spaces[self.agent]
        self.action_space = game.action_spaces[self.agent]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the game of a given or random seed; `options` have no effect."""
        super().reset(seed=seed)
        self.game.reset(seed)
        return self.game.observe(self.agent), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act, and let the other players move until the agent owes another action.

        Returns the observation, the reward, whether the game is over, False as nothing is
        truncated, and {}. Raises UsageError for a value that is not an action, and if the game is
        over.
        """
        if self.game.outcome is not None:
            raise UsageError("the game is over: reset() begins another one")
        self.game.turn({self.agent: self.game.read(self.agent, action)})
        over = self.game.outcome is not None
        return self.game.observe(self.agent), self.game.rewards()[self.agent], over, False, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of allowed actions, in the form expected by sb3-contrib.

        Raises UsageError for a game without arrays.
        """
        observation = self.game.observe(self.agent)
        if "action_mask" not in observation:
            raise UsageError(f"{self.game.name} has no arrays, and so no masks")
        return np.asarray(observation["action_mask"], bool)

    def render(self) -> Any:
        """Return the board as `render_mode` says; without one, warn and return None."""
        return rendered(self.game, self.render_mode)
