"""The games as environments of PettingZoo, for those who let a program learn to play."""

try:
    from cw.envs.environments import AgentEnv, TurnEnv, aec_env, parallel_env
except ModuleNotFoundError as error:
    if error.name not in ("gymnasium", "pettingzoo"):
        raise
    raise ModuleNotFoundError(
        f"cw.envs needs {error.name}: in the repository, pip install '.[envs]'", name=error.name
    ) from None

__all__ = ["AgentEnv", "TurnEnv", "aec_env", "parallel_env"]
