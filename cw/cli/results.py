"""How `cw play` and `cw simulate` tell of matches: one in lines, several in a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cw.games.rules import Json
from cw.matches.spec import MatchFault, MatchResult, MatchSpec
from cw.matches.tally import Tally, tallies
from cw.matches.verdict import never_played, plain, verdict, won_by
from cw.visible import visible

SHOWN_FAULTS: Final = 20
"""Faults that are told one by one; what comes later is only counted."""

LAST_WORDS: Final = 2000
"""Characters of what a program wrote to its error output that are shown."""

HEADINGS: Final = (
    "\nwon", "\ndrawn", "\nlost", "win\nrate", "95 %\nCI", "average\nscore", "\nfaults",
)  # fmt: skip


class Played(NamedTuple):
    """A match that is over, and the file of its replay if there is one."""

    spec: MatchSpec
    result: MatchResult
    file: Path | None = None

    @property
    def verdict(self) -> str:
        """Who won, by what and in which turn."""
        return verdict(self.spec, self.result)

    def without_turns(self) -> Played:
        """Return it without the turns, many of which would fill the memory."""
        return self._replace(result=msgspec.structs.replace(self.result, replay={}))


class Telling:
    """Tells of matches as they end: results on standard output, the rest on standard error."""

    def __init__(self, console: Console, expected: int, *, as_json: bool) -> None:
        """Expect so many matches; `console` is for standard error."""
        self.console = console
        self.expected = expected
        self.as_json = as_json
        self.absent = False
        """Whether a bot of any match could not be started."""
        self._told: list[Played] = []
        self._explained: set[str] = set()
        """Bots whose faults have been explained: those of further matches are only counted."""

    def match(self, played: Played) -> None:
        """Tell of a match."""
        self.explain(played)
        self.absent = self.absent or bool(never_played(played.result))
        if self.as_json:
            click.echo(json.dumps(report_of(played)))
        elif self.expected == 1:
            print_match(played)
        self._told.append(played.without_turns())
        if self.expected > 1:
            line = f"match {len(self._told)} of {self.expected}: {played.verdict}"
            self.console.print(Text(visible(line), "dim"), soft_wrap=True)

    def explain(self, played: Played) -> None:
        """Explain faults of bots that had none before."""
        faulty = {played.spec.bots[fault.bot].name for fault in played.result.faults}
        if faulty - self._explained:
            explain_faults(self.console, played)
        self._explained |= faulty

    def end(self) -> None:
        """Sum up several matches."""
        if self.expected > 1 and not self.as_json:
            print_series([bot.name for bot in self._told[0].spec.bots], self._told)


def report_of(played: Played) -> dict[str, Json]:
    """Return a match for programs."""
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
    """Print who won, by what and in which turn, then the ranks and where the replay is."""
    spec, result, file = played
    # The words of games and names of files may hold anything.
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(visible(f"{spec.game}, seed {spec.seed}: {played.verdict}")))
    unranked = len(spec.bots) + 1
    width = max(len(bot.name) for bot in spec.bots)
    for number in sorted(range(len(spec.bots)), key=lambda one: result.ranks[one] or unranked):
        console.print(Text(rank_line(played, number, width)))
    if file is not None:
        console.print(Text(visible(f"  replay: {file}")))


def rank_line(played: Played, number: int, width: int) -> str:
    """Return the rank, the name, the score and the faults of a bot."""
    result, rank = played.result, played.result.ranks[number]
    place = "  -" if rank is None else f"{rank:3}"
    faults = len(result.faults_of(number))
    counted = f"   ({faults} fault{'s' * (faults > 1)})" if faults else ""
    name = f"{played.spec.bots[number].name:<{width}}"
    return f"{place}. {name}  {plain(result.scores[number]):>6}{counted}"


def print_series(names: Sequence[str], series: Sequence[Played]) -> None:
    """Print what each of the named bots did in several matches, as a table."""
    first, last = series[0], series[-1]
    console = Console(highlight=False)
    console.print(Text(f"{len(series)} matches of {first.spec.game}, {seeds_of(series)}\n"))
    console.print(table_of(tallies(names, [(one.spec, one.result) for one in series])))
    reasons = Counter(one.result.reason.replace("_", " ") for one in series)
    told = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    console.print(Text(visible(f"\nended by: {told}")))
    if first.file is not None:
        console.print(Text(visible(f"replays: {first.file} to {last.file}")), soft_wrap=True)


def seeds_of(series: Sequence[Played]) -> str:
    """Return the seeds of a series."""
    first, last = series[0].spec.seed, series[-1].spec.seed
    return f"seed {first}" if first == last else f"seeds {first} to {last}"


def table_of(found: Sequence[Tally]) -> Table:
    """Return the table of a series, the highest win rate first."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("\nbot", overflow="fold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("won by\nseat", justify="right")
    for tally in sorted(found, key=lambda one: -one.win_rate):
        table.add_row(*map(Text, cells_of(tally)))
    return table


def cells_of(tally: Tally) -> list[str]:
    """Return the line of a bot."""
    low, high = tally.interval
    seats = " ".join(f"{one.count('won')}/{len(one.parts)}" for one in tally.seats.values())
    return [
        tally.name,
        *(str(tally.count(came)) for came in ("won", "drawn", "lost")),
        f"{tally.win_rate:.1%}",
        f"{low:.0%}-{high:.0%}",
        "-" if tally.average_score is None else f"{tally.average_score:.1f}",
        str(tally.faults),
        seats,
    ]


def explain_faults(console: Console, played: Played) -> None:
    """Print what was wrong with replies: what came, what was expected, and how to repeat it."""
    spec, result, _ = played
    for fault in result.faults[:SHOWN_FAULTS]:
        console.print(Text(visible(sentence(spec, fault)), "yellow"))
    for line in how_to_repeat(played):
        console.print(Text(visible(line)), soft_wrap=True)
    more = len(result.faults) - SHOWN_FAULTS
    if more > 0:
        console.print(Text(f"... and {more} more faults; the replay has them all", "yellow"))
    for number in dict.fromkeys(fault.bot for fault in result.faults):
        said = result.stderr[number].strip()
        if said and not any(said in fault.detail for fault in result.faults_of(number)):
            console.print(Text(visible(f"{spec.bots[number].name} wrote to its error output:")))
            console.print(Text(visible(said[-LAST_WORDS:]), "dim"))


def how_to_repeat(played: Played) -> list[str]:
    """Return the commands that show the position of the first fault in a reply, if there is one."""
    replied = [fault for fault in played.result.faults if fault.kind != "startup"]
    if not replied:
        return []
    first, name = replied[0], played.file or "FILE"
    where = f"cw replay line {name} --turn {first.turn}"
    hint = "" if played.file else " (FILE is what --out FILE writes)"
    return [
        f"repeat it: {where} | cw step {played.spec.game}{hint}",
        f"what it saw: {where} --player {first.player} | cw observe {played.spec.game}",
    ]


def sentence(spec: MatchSpec, fault: MatchFault) -> str:
    """Return a sentence about a fault; turns are counted from 1, as people do."""
    told = f"{spec.bots[fault.bot].name}: {fault.kind}: {fault.detail}"
    return told if fault.kind == "startup" else f"turn {fault.turn + 1}: {told}"
