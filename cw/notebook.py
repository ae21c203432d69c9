"""Matches and replays in notebooks, with the viewer below the cell."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from cw.arena.bots import read_bots
from cw.errors import Failure
from cw.games.endings import Endings
from cw.games.registry import game_entries, load_endings, load_strategies
from cw.games.rules import Json
from cw.matches.run import run_match
from cw.matches.spec import MatchResult, MatchSpec
from cw.replays.document import Document, decode
from cw.replays.ending import ending_of
from cw.web.live_match import LoopThread
from cw.web.replay_export import html

HEIGHT: Final = 660
"""Height of the viewer in pixels; with less, the turn would be hidden."""


@dataclass(frozen=True, slots=True, repr=False)
class ShownReplay:
    """A replay displayed in a notebook."""

    document: Document
    """The replay, as written by `cw play`."""

    def __repr__(self) -> str:
        """Return the game, the seed, the winner and the score."""
        document = self.document
        players = [(seat.get("player"), str(seat.get("name"))) for seat in document["players"]]
        game = document["game"]
        words = load_endings(game) if game in game_entries() else Endings()
        ending = ending_of(players, document["result"], words)
        return f"{game}, seed {document['seed']}: {ending.sentence}"

    def _repr_html_(self) -> str:
        """Return the result as HTML, with the viewer in a frame.

        The frame is sandboxed: it can neither access the notebook nor load anything.
        """
        page = escape(html(self.document, embedded=True).decode())
        return (
            f"<p>{escape(repr(self))}</p>"
            f'<iframe srcdoc="{page}" title="{escape(repr(self))}" sandbox="allow-scripts"'
            f' style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )


@dataclass(frozen=True, slots=True, repr=False)
class PlayedMatch(ShownReplay):
    """A match played in the notebook."""

    result: MatchResult
    """Ranks, scores, faults and times, in bot order."""


def play(
    game: str, *bots: str, seed: int | None = None, settings: Sequence[str] = (), **options: Json
) -> PlayedMatch:
    """Play a match between bots, named as for `cw play`, and return the match.

    A seed is drawn if none is given; `settings` are those of `--set`. An interrupted match leaves
    nothing running. Raises UsageError for an invalid game, bot or option.

    >>> play("hexagon", "builtin:random", "mine=builtin:greedy", seed=1, size=3)
    hexagon, seed 1: mine won by score, 11 to 6
    """
    arguments = read_bots(bots, settings, load_strategies(game))
    drawn = secrets.randbelow(2**31) if seed is None else seed
    spec = MatchSpec("notebook", game, tuple(arguments.bots), drawn, options)
    # A notebook's thread already runs its own event loop.
    loop = LoopThread()
    try:
        result = loop.run(run_match(spec, secrets=arguments.secrets), patience=None)
    finally:
        loop.close()
    return PlayedMatch(result.replay, result)


def show(file: str | Path) -> ShownReplay:
    """Return a replay written by `cw play`.

    Raises Failure if the file cannot be read, ProtocolError if it is not a replay.

    In a cell, the last line shows the viewer:

        show("replays/hexagon-1.json.gz")
    """
    try:
        return ShownReplay(decode(Path(file).read_bytes()))
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}") from None
