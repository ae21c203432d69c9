"""A finished match, as text for the terminal and as JSON for programs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from cw.arena.program import ERROR_OUTPUT
from cw.arena.seats import SKIPPED, STRAY
from cw.errors import visible
from cw.games.registry import load_endings
from cw.games.rules import Json
from cw.matches.spec import MatchFault, MatchResult, MatchSpec
from cw.matches.verdict import plain, verdict, won_by


class Played(NamedTuple):
    """A finished match, and its replay file if there is one."""

    spec: MatchSpec
    result: MatchResult
    file: Path | None = None

    @property
    def verdict(self) -> str:
        """Who won, how and in which turn."""
        return verdict(self.spec, self.result)

    def without_turns(self) -> Played:
        """Return a copy without the turns: those of many matches would fill the memory."""
        return self._replace(result=msgspec.structs.replace(self.result, replay={}))


def report_of(played: Played) -> dict[str, Json]:
    """Return a match as JSON."""
    spec, result, file = played
    return {
        "game": spec.game,
        "seed": spec.seed,
        "players": [
            {
                "name": bot.name,
                "rank": result.ranks[number],
                "score": result.scores[number],
                "faults": [fault.to_json() for fault in result.faults_of(number)],
            }
            for number, bot in enumerate(spec.bots)
        ],
        "winner": None if result.winner is None else spec.bots[result.winner].name,
        "won_by": won_by(spec, result),
        "tie_breaks": {name: list(values) for name, values in result.tie_breaks.items()},
        "reason": result.reason,
        "verdict": played.verdict,
        "turns": result.turns,
        "replay": None if file is None else str(file),
    }


def print_match(played: Played) -> None:
    """Print who won, how and in which turn, then the ranks and the replay file."""
    spec, result, file = played
    # Texts of games and names of files may contain any characters.
    click.echo(visible(f"{spec.game}, seed {spec.seed}: {played.verdict}"))
    unranked = len(spec.bots) + 1
    width = max(len(bot.name) for bot in spec.bots)
    for number in sorted(range(len(spec.bots)), key=lambda seat: result.ranks[seat] or unranked):
        click.echo(rank_line(played, number, width))
    if file is not None:
        click.echo(visible(f"  replay: {file}"))


def rank_line(played: Played, number: int, width: int) -> str:
    """Return a line with a bot's rank, name, score and number of faults."""
    result, rank = played.result, played.result.ranks[number]
    place = "  -" if rank is None else f"{rank:3}"
    faults = len(result.faults_of(number))
    counted = f"   ({faults} fault{'s' * (faults > 1)})" if faults else ""
    name = f"{played.spec.bots[number].name:<{width}}"
    return f"{place}. {name}  {plain(result.scores[number]):>6}{counted}"


def how_to_repeat(played: Played) -> list[str]:
    """Return the commands that show the position of the first fault in a reply, if there is one.

    Stray output lines have no consequences, so any other fault takes precedence over them.
    """
    replied = [fault for fault in played.result.faults if fault.kind != "startup"]
    if not replied:
        return []
    first = min(replied, key=lambda fault: fault.cause == STRAY)
    file = shlex.quote(str(played.file)) if played.file else "FILE"
    bot = shlex.quote(played.spec.bots[first.bot].name)
    turn = min(first.turn, played.result.turns) + load_endings(played.spec.game).first
    where = f"cw replay line {file} --turn {turn}"
    hint = "" if played.file else " (FILE is what --out FILE writes)"
    return [
        f"repeat it: {where} | cw step {played.spec.game}{hint}",
        f"what it saw: {where} --player {bot} | cw observe {played.spec.game}",
    ]


def sentence(spec: MatchSpec, faults: Sequence[MatchFault]) -> str:
    """Return a sentence about similar faults; turns are numbered as people count them.

    The end of the error output is left out, because all of it is shown nearby.
    """
    first, last = faults[0], faults[-1]
    detail = first.detail.partition(ERROR_OUTPUT)[0]
    text = f"{spec.bots[first.bot].name}: {first.kind}: {detail}"
    turn_after = load_endings(spec.game).turn_after
    words = text if first.kind == "startup" else f"{turn_after(first.turn)}: {text}"
    if len(faults) == 1:
        return words
    more = f"and {len(faults) - 1} more like it, the last in {turn_after(last.turn)}"
    patience = f"; late {spec.patience} times in a row, it was asked in one turn of ten"
    skipped = any(fault.cause == SKIPPED for fault in faults)
    return f"{words} ({more}{patience if skipped else ''})"
