"""Bots of one's own in the seats of an environment, one agent alone, and the board as pixels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cw.envs import SoloEnv, aec_env, gym_env, parallel_env
from cw.errors import UsageError
from cw.games.registry import GAMES
from tests.documented import installed
from tests.test_every_game import SMALL

FILE = """
class Bot:
    def __init__(self):
        self.turns = 0

    def act(self, view):
        self.turns += 1
        assert view["turns_left"] == 5 - self.turns
        return {"type": "walk", "direction": [0, -1]}


def agent(observation, configuration):
    assert configuration.game == "paint"
    assert observation.player_positions[configuration.player]
    return {"type": "walk", "direction": [0, -1]}
"""


class Westwards:
    """A bot of one's own."""

    def act(self, view: dict[str, Any]) -> dict[str, Any]:
        return {"type": "walk", "direction": [0, -1]}


def westwards(view: dict[str, Any]) -> dict[str, Any]:
    return {"type": "walk", "direction": [0, -1]}


def painted(env: SoloEnv) -> list[int]:
    """Play with an agent that stands at its edge; return the columns of the opponent."""
    env.reset(seed=1)
    over, columns = False, []
    while not over:
        _, _, over, _, _ = env.step(0)
        columns.append(env.game.frame["player_positions"]["p2"][1])
    return columns


@pytest.mark.parametrize("way", ["file", "function of a file", "class", "function"])
def test_a_bot_of_ones_own_plays_anew_in_each_game(way: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    ways: dict[str, str | Callable[..., Any]] = {
        "file": f"python:{file}",
        "function of a file": f"python:{file}:agent",
        "class": Westwards,
        "function": westwards,
    }
    env = gym_env("paint", ways[way], turns=4)
    assert painted(env) == painted(env) == [8, 7, 6, 5]


@pytest.mark.parametrize(
    ("bot", "error"),
    [
        ("python:gone.py", "player_1: there is no file 'gone.py'"),
        ("bot.py", r"environments seat builtin:NAME, python:PATH"),
        (7, "a bot is text, a class or a function, not 7"),
    ],
)
def test_what_is_no_bot_is_refused(bot: Any, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        parallel_env("paint", bots={"player_1": bot})


def test_a_file_without_a_bot_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match="the file has no class or function Bot or agent"):
        parallel_env("paint", bots={"player_1": f"python:{tmp_path / 'mine.py'}"})


def test_what_an_own_bot_does_wrong_is_told() -> None:
    env = gym_env("paint", lambda _: {"type": "fly"})
    env.reset(seed=1)
    with pytest.raises(UsageError, match="the bot of p2: "):
        env.step(0)


@pytest.mark.parametrize("game", GAMES)
def test_the_check_of_gymnasium_passes(game: str) -> None:
    with warnings.catch_warnings():
        # It advises other spaces than a dict with a mask.
        warnings.simplefilter("ignore", UserWarning)
        check_env(gym_env(game, **SMALL.get(game, {})), skip_render_check=True)


def test_an_agent_may_have_another_seat_and_several_opponents() -> None:
    env = gym_env("paint", agent="player_2", players=3, turns=2)
    env.reset(seed=1)
    assert env.agent == "player_2"
    assert env.action_masks().dtype == bool
    env.step(int(env.action_masks().argmax()))
    _, reward, over, truncated, _ = env.step(0)
    assert (over, truncated) == (True, False)
    assert -1 <= reward <= 1
    with pytest.raises(UsageError, match="the game is over"):
        env.step(0)
    with pytest.raises(UsageError, match="there is no agent 'ann'; choose one of player_0"):
        gym_env("paint", agent="ann")


@pytest.mark.parametrize("game", [*GAMES, "nim"])
def test_the_board_is_an_array_of_pixels(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(installed())
    env = aec_env(game, render_mode="rgb_array", **SMALL.get(game, {}))
    env.reset(seed=1)
    before = env.render()
    assert (before.dtype, before.ndim, before.shape[2]) == (np.uint8, 3, 3)
    for _ in env.possible_agents:
        agent = env.agent_selection
        mask = env.observe(agent).get("action_mask")
        env.action_space(agent).seed(1)
        env.step(env.action_space(agent).sample(mask))
    after = env.render()
    assert after.shape == before.shape
    assert (after != before).any()
