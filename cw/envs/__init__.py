"""The games as PettingZoo and Gymnasium environments, for reinforcement learning."""

try:
    from cw.envs.environments import AgentEnv, SoloEnv, TurnEnv, aec_env, gym_env, parallel_env
except ModuleNotFoundError as error:
    if error.name not in ("gymnasium", "pettingzoo"):
        raise
    raise ModuleNotFoundError(
        f"cw.envs needs {error.name}: in the repository, pip install -e '.[envs]'", name=error.name
    ) from None

__all__ = ["AgentEnv", "SoloEnv", "TurnEnv", "aec_env", "gym_env", "parallel_env"]
