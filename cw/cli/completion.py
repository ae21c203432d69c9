"""`cw completion`: prints the completion script for bash, zsh or fish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

SHELLS: Final[Mapping[str, type[ShellComplete]]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


@click.command
@click.argument("shell", metavar="SHELL", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for bash, zsh or fish.

    \b
    For each new shell:
      bash   add to ~/.bashrc:                    eval "$(cw completion bash)"
      zsh    add to ~/.zshrc, after compinit:     eval "$(cw completion zsh)"
      fish   cw completion fish > ~/.config/fish/completions/cw.fish
    """
    program = context.find_root().command
    click.echo(SHELLS[shell](program, {}, "cw", "_CW_COMPLETE").source())
