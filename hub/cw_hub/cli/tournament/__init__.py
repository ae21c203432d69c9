"""Tournaments of teams for the operator: a part of `cw hub competition`."""

from __future__ import annotations

from typing import Final

from cw_hub.cli.tournament import creation
from cw_hub.cli.tournament.cards import cards, host_token
from cw_hub.cli.tournament.events import event
from cw_hub.cli.tournament.export import export
from cw_hub.cli.tournament.rounds import add_sandbox, carry_over, rounds, status
from cw_hub.cli.tournament.teams import bot, ssh_keys, teams
from cw_hub.competitions.tournament.settings import FORMAT

COMMANDS: Final = (
    *(teams, cards, bot, event, rounds, status, add_sandbox),
    *(host_token, ssh_keys, carry_over, export),
)
"""Commands of `cw hub competition` for tournaments only."""

MAKERS: Final = {FORMAT: creation.make}
"""The makers of competitions that take more than a game, by the name of their format."""
