"""PettingZoo and Gymnasium environments, with agents that act in turn or simultaneously."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import logger
from gymnasium.spaces import Space
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv

from cw.envs.agent_game import BUILTIN, AgentGame, Bot, fewest
from cw.errors import UsageError
from cw.games.registry import load_game, load_strategies
from cw.games.rules import Json

NOBODY: Final[Mapping[str, Bot]] = {}
RENDER_MODES: Final = ("ansi", "rgb_array")


def aec_env(
    game: str,
    *,
    players: int | None = None,
    bots: Mapping[str, Bot] = NOBODY,
    render_mode: str | None = None,
    **options: Json,
) -> TurnEnv:
    """Return an environment in which agents act one after the other.

    In a game of simultaneous moves, agents are asked in seat order, and the turn is played when all
    have answered. `bots` gives seats to opponents, as `{"player_1": "builtin:random"}`:
    `builtin:NAME`, `python:PATH[:NAME]`, a class or a function; `render_mode` is `ansi`,
    `rgb_array` or None; the rest are options of the game. Raises UsageError if the arguments are
    invalid.

    >>> env = aec_env("hexagon", size=3)
    >>> env.reset(seed=1)
    >>> observation, reward, over, _, _ = env.last()
    >>> env.step(env.action_space(env.agent_selection).sample(observation["action_mask"]))
    >>> env.agent_selection
    'player_1'
    """
    return TurnEnv(AgentGame(game, players, bots, options), render_mode)


def parallel_env(
    game: str,
    *,
    players: int | None = None,
    bots: Mapping[str, Bot] = NOBODY,
    render_mode: str | None = None,
    **options: Json,
) -> AgentEnv:
    """Return an environment in which all agents act at the same time; arguments as for `aec_env`.

    Raises UsageError for a game that is played in turns, and for invalid arguments.

    >>> env = parallel_env("paint", players=3, turns=1)
    >>> observations, _ = env.reset(seed=1)
    >>> actions = {agent: 0 for agent in env.agents}
    >>> _, rewards, terminations, _, _ = env.step(actions)
    >>> all(terminations.values())
    True
    """
    played = AgentGame(game, players, bots, options)
    if not played.simultaneous:
        raise UsageError(f"{game} is played in turns: use aec_env")
    return AgentEnv(played, render_mode)


def check_mode(render_mode: str | None) -> None:
    """Raise UsageError for an unknown render mode."""
    if render_mode not in (None, *RENDER_MODES):
        modes = ", ".join(RENDER_MODES)
        raise UsageError(f"render_mode is {modes} or None, not {render_mode!r}")


def rendered(game: AgentGame, render_mode: str | None) -> Any:
    """Return the board as text or as pixels; without a render mode, warn and return None."""
    if render_mode is None:
        logger.warn('nothing is rendered without a mode: give render_mode="ansi"')
        return None
    return game.image() if render_mode == "rgb_array" else game.drawn()


class SeatedGame:
    """The common base of both PettingZoo environments: a game with its agents, spaces and board."""

    def __init__(self, game: AgentGame, render_mode: str | None) -> None:
        """Set up the agents; the first game starts with `reset`."""
        check_mode(render_mode)
        self.game = game
        self.render_mode = render_mode
        self.metadata: dict[str, Any] = {
            "name": game.name,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": game.simultaneous,
        }
        self.possible_agents = list(game.seats)
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's observations."""
        return self.game.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's actions."""
        return self.game.action_spaces[agent]

    def render(self) -> Any:
        """Return the board; without a render mode, warn and return None.

        It is text, or with `rgb_array` an RGB array of rows x columns x 3.
        """
        return rendered(self.game, self.render_mode)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


class TurnEnv(SeatedGame, AECEnv[str, Any, Any]):
    """An environment whose agents act one after the other.

    >>> env = aec_env("circuit-wars", size=3, bots={"player_1": "builtin:random"})
    >>> env.reset(seed=1)
    >>> while not env.last()[2]:
    ...     mask = env.last()[0]["action_mask"]
    ...     env.step(env.action_space(env.agent_selection).sample(mask))
    >>> env.last()[1] in (-1.0, 0.0, 1.0)
    True
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game with a given or random seed; `options` has no effect."""
        self.game.reset(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.actions: dict[str, Any] = {}
        self._go_on()

    def step(self, action: Any) -> None:
        """Play the action of the agent whose turn it is; None for an agent that is done.

        Raises UsageError for a value that is not an action. An illegal action is passed to the
        rules, which decide on the penalty.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.actions[agent] = self.game.read(agent, action)
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        if not self._waiting():
            self.game.turn(self.actions)
            self.actions = {}
        self._go_on()

    def _waiting(self) -> list[str]:
        return [agent for agent in self.game.due() if agent not in self.actions]

    def _go_on(self) -> None:
        """Select the next agent; at the end, distribute the rewards."""
        if self.game.outcome is None:
            self.agent_selection = self._waiting()[0]
            return
        self.terminations = dict.fromkeys(self.agents, True)
        self.rewards = self.game.rewards()
        self._accumulate_rewards()
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Any:
        """Return an agent's observation and its mask of allowed actions."""
        return self.game.observe(agent)


class AgentEnv(SeatedGame, ParallelEnv[str, Any, Any]):
    """An environment whose agents act at the same time."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a game with a given or random seed; `options` has no effect.

        Returns observations and infos by agent.
        """
        self.game.reset(seed)
        self.agents = list(self.possible_agents)
        return self._observations(), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Play a turn; actions of eliminated agents, who owe none, have no effect.

        Returns observations, rewards, terminations, truncations and infos by agent. Raises
        UsageError for a value that is not an action, and for a missing action.
        """
        due = self.game.due()
        missing = [agent for agent in due if agent not in actions]
        if missing:
            raise UsageError(f"no action for {', '.join(missing)}")
        self.game.turn({agent: self.game.read(agent, actions[agent]) for agent in due})
        over = self.game.outcome is not None
        agents, observations = self.agents, self._observations()
        self.agents = [] if over else agents
        return (
            observations,
            self.game.rewards(),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, False),
            {agent: {} for agent in agents},
        )

    def _observations(self) -> dict[str, Any]:
        return {agent: self.game.observe(agent) for agent in self.agents}


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
    """Return an environment with a single agent, and an opponent in each of the other seats.

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
    """Return the game's strategy `random`, or its first strategy if it has no such strategy."""
    strategies = load_strategies(game)
    return f"{BUILTIN}{RANDOM if RANDOM in strategies else next(iter(strategies))}"


class SoloEnv(gymnasium.Env[Any, Any]):
    """An environment with a single agent."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, game: AgentGame, render_mode: str | None) -> None:
        """Set up the agent; the first game starts with `reset`."""
        check_mode(render_mode)
        self.game = game
        (self.agent,) = game.seats
        self.render_mode = render_mode
        self.observation_space = game.observation_spaces[self.agent]
        self.action_space = game.action_spaces[self.agent]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a game with a given or random seed; `options` has no effect."""
        super().reset(seed=seed)
        self.game.reset(seed)
        return self.game.observe(self.agent), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action, and let the other players move until the agent owes another one.

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

        Raises UsageError for a game that defines no arrays.
        """
        observation = self.game.observe(self.agent)
        if "action_mask" not in observation:
            raise UsageError(f"{self.game.name} has no arrays, and so no masks")
        return np.asarray(observation["action_mask"], bool)

    def render(self) -> Any:
        """Return the board according to `render_mode`; without one, warn and return None."""
        return rendered(self.game, self.render_mode)
