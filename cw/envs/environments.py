"""The two kinds of environments: agents one after the other, and all at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gymnasium import logger
from gymnasium.spaces import Space
from pettingzoo import AECEnv, ParallelEnv

from cw.envs.agent_game import AgentGame
from cw.errors import UsageError
from cw.games.rules import Json

NOBODY: Final[Mapping[str, str]] = {}
RENDER_MODES: Final = ("ansi",)


def aec_env(
    game: str,
    *,
    players: int | None = None,
    bots: Mapping[str, str] = NOBODY,
    render_mode: str | None = None,
    **options: Json,
) -> TurnEnv:
    """Return a game in which agents act one after the other.

    In a game that is played at the same time they are asked in seat order, and the turn is played
    when all have answered. `bots` gives seats to built-in strategies, as `{"player_1":
    "builtin:random"}`; `render_mode` is `ansi` or None; the rest are options of the game. Raises
    UsageError for what makes no game.
    """
    return TurnEnv(AgentGame(game, players, bots, options), render_mode)


def parallel_env(
    game: str,
    *,
    players: int | None = None,
    bots: Mapping[str, str] = NOBODY,
    render_mode: str | None = None,
    **options: Json,
) -> AgentEnv:
    """Return a game in which all agents act at the same time; arguments as for `aec_env`.

    Raises UsageError for a game that is played in turns, and for what makes no game.
    """
    played = AgentGame(game, players, bots, options)
    if not played.simultaneous:
        raise UsageError(f"{game} is played in turns: take aec_env for it")
    return AgentEnv(played, render_mode)


class SeatedGame:
    """What both kinds of environments have: a game with its agents, their spaces, and its board."""

    def __init__(self, game: AgentGame, render_mode: str | None) -> None:
        """Seat the agents; the first game begins with `reset`."""
        if render_mode not in (None, *RENDER_MODES):
            modes = ", ".join(RENDER_MODES)
            raise UsageError(f"render_mode is {modes} or None, not {render_mode!r}")
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
        """Return the space of what an agent sees."""
        return self.game.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the space of what an agent does."""
        return self.game.action_spaces[agent]

    def render(self) -> str | None:
        """Return the board as text; None, with a warning, where no mode was asked for."""
        if self.render_mode is None:
            logger.warn('nothing is rendered without a mode: give render_mode="ansi"')
            return None
        return self.game.drawn()

    def close(self) -> None:
        """Do nothing: nothing is held."""


class TurnEnv(SeatedGame, AECEnv[str, Any, Any]):
    """A game whose agents act one after the other."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the game of a seed, or of one that is drawn; `options` have no effect."""
        self.game.reset(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.given: dict[str, Any] = {}
        self._go_on()

    def step(self, action: Any) -> None:
        """Take the action of the agent whose turn it is; None of one that is done.

        Raises UsageError for what is no action. One that is not legal is handed to the rules, which
        say what it costs.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.given[agent] = self.game.read(agent, action)
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        if not self._waiting():
            self.game.turn(self.given)
            self.given = {}
        self._go_on()

    def _waiting(self) -> list[str]:
        return [agent for agent in self.game.due() if agent not in self.given]

    def _go_on(self) -> None:
        """Select who acts next; at the end, hand out the rewards."""
        if self.game.outcome is None:
            self.agent_selection = self._waiting()[0]
            return
        self.terminations = dict.fromkeys(self.agents, True)
        self.rewards = self.game.rewards()
        self._accumulate_rewards()
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Any:
        """Return what an agent sees, and what it may do now."""
        return self.game.observe(agent)


class AgentEnv(SeatedGame, ParallelEnv[str, Any, Any]):
    """A game whose agents act at the same time."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin the game of a seed, or of one that is drawn; `options` have no effect.

        Returned are observations and infos by agent.
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
        """Play a turn; the actions of agents that owe none, as they are out, have no effect.

        Returned are observations, rewards, terminations, truncations and infos by agent. Raises
        UsageError for what is no action, and where one is missing.
        """
        due = self.game.due()
        missing = [agent for agent in due if agent not in actions]
        if missing:
            raise UsageError(f"there is no action of {', '.join(missing)}")
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
