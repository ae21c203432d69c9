"""The replay of a game between clients on this server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from cw.arena.bots import BotSpec
from cw.arena.referee import MatchRecord
from cw.games.circuit_wars.rules import Action, CircuitWars, State
from cw.games.registry import load_game
from cw.games.rules import Fault
from cw.replays.document import Document, Recorder, replay_of
from cw.server.session import Snapshot
from cw.server.settings import ServerSettings

CLIENT: Final = "client"
"""Placeholder for a team's program, which is unknown."""


def replay_of_game(
    settings: ServerSettings, start: State, snapshot: Snapshot[State, Action]
) -> Document:
    """Return the replay of a finished game, in a form that `cw replay verify` accepts."""
    record = MatchRecord(
        load_game(CircuitWars.name),
        {player: BotSpec(team, "exec", CLIENT) for player, team in enumerate(snapshot.teams, 1)},
        settings.seed,
        {"size": settings.size, "openings": settings.openings},
        start=start,
        state=start,
    )
    recorder = Recorder()
    recorder(record)
    for turn in snapshot.turns:
        for player, action in turn.actions.items():
            if isinstance(action, Fault):
                record.note(player, action)
        record.state = record.game.rules.step(record.state, turn.actions)
        record.turns.append(turn)
        recorder(record)
    return replay_of(record, recorder, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
