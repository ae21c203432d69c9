"""Plays a match for a test, and keeps how it went."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cw.arena.bots import read_bots
from cw.arena.referee import MatchRecord
from cw.games.registry import load_game
from cw.matches.progress import MatchProgress
from cw.matches.run import run_match
from cw.matches.spec import (
    NO_SECRETS,
    Isolation,
    MatchResult,
    MatchSpec,
    SandboxPolicy,
    Secrets,
)
from cw.replays import document
from cw.replays.verify import verify


@dataclass(frozen=True)
class Played:
    """A match that is over."""

    result: MatchResult
    record: MatchRecord

    @property
    def replay(self) -> dict[str, Any]:
        return self.result.replay


def play_match(  # noqa: PLR0917 - as many as a match has
    game: str,
    bots: Sequence[str],
    seed: int,
    options: dict[str, Any],
    settings: Sequence[str] = (),
    sandbox: SandboxPolicy = "auto",
    start: Any = None,
) -> Played:
    """Play bots as `cw play` takes them."""
    read = read_bots(bots, settings)
    isolation = Isolation(sandbox)
    spec = MatchSpec("test", game, tuple(read.bots), seed, options, start, isolation)
    return play_spec(spec, read.secrets)


def play_spec(spec: MatchSpec, secrets: Secrets = NO_SECRETS) -> Played:
    """Play a match as it is described; the replay must be true."""
    states: list[MatchProgress] = []
    result = asyncio.run(run_match(spec, on_turn=states.append, secrets=secrets))
    again = document.decode(document.encode(result.replay, packed=False))
    assert verify(load_game(spec.game), again) is None
    return Played(result, states[-1].record)
