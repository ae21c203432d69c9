"""Runs a Python class or function as a bot: one view per line in, one action per line out.

It runs as a stand-alone script, without importing this package.
"""

import inspect
import json
import runpy
import sys
from collections.abc import Callable
from typing import Any

Act = Callable[[str], Any]
"""Returns the action for a line."""


class Observation(dict[str, Any]):
    """A JSON object whose members are also attributes, as functions of this form expect."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def main(path: str, name: str) -> None:
    """Reply to each line `{"view", "configuration"}` with `{"action"}`; `print` uses stderr."""
    out, sys.stdout = sys.stdout, sys.stderr
    act = player_of(path, name)
    for line in sys.stdin:
        out.write(json.dumps({"action": act(line)}) + "\n")
        out.flush()


def player_of(path: str, name: str) -> Act:
    """Return the player in a file: the named one, else its class `Bot`, else its `agent`."""
    names = [name] if name else ["Bot", "agent"]
    members = runpy.run_path(path)
    player = next(
        (members[candidate] for candidate in names if callable(members.get(candidate))), None
    )
    if player is None:
        sys.exit(
            f"the file has no class or function {' or '.join(names)}; name yours: python:PATH:NAME"
        )
    return acting(player()) if isinstance(player, type) else calling(player)


def acting(bot: Any) -> Act:
    """Adapt a bot with a method `act`, which gets the view."""
    return lambda line: bot.act(json.loads(line)["view"])


def calling(function: Callable[..., Any]) -> Act:
    """Adapt a function: it gets the view, and the configuration if it takes two arguments."""
    try:
        inspect.signature(function).bind({}, {})
        parts = ["view", "configuration"]
    except TypeError:
        parts = ["view"]

    def act(line: str) -> Any:
        question = json.loads(line, object_hook=Observation)
        return function(*(question[part] for part in parts))

    return act


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
