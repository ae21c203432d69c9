"""Reports the matches of `cw play` as they end."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Final

import click

from cw.cli.output.last_words import last_words
from cw.cli.output.results import Played, how_to_repeat, print_match, report_of, sentence
from cw.cli.output.stderr import Stderr
from cw.matches.spec import MatchFault
from cw.matches.verdict import never_played

SHOWN_FAULTS: Final = 20
"""Maximum faults reported, similar ones as one; further ones are only counted."""

NUMBER: Final = re.compile(r"\d+")


class MatchReports:
    """Reports matches as they end: results on standard output, the rest on standard error."""

    def __init__(self, stderr: Stderr, expected: int, *, as_json: bool) -> None:
        """Prepare for `expected` matches."""
        self.stderr = stderr
        self.expected = expected
        self.as_json = as_json
        self.absent = False
        """Whether a bot could not be started in at least one match."""
        self._matches: list[Played] = []
        self._explained: set[str] = set()
        """Names of bots whose faults were explained; faults in later matches are only counted."""

    def match(self, played: Played) -> None:
        """Report a match."""
        self.explain(played)
        self.absent = self.absent or bool(never_played(played.result))
        if self.as_json:
            click.echo(json.dumps(report_of(played)))
        elif self.expected == 1:
            print_match(played)
        self._matches.append(played.without_turns())
        if self.expected > 1:
            line = f"match {len(self._matches)} of {self.expected}: {played.verdict}"
            self.stderr.say(line, "dim", soft_wrap=True)

    def explain(self, played: Played) -> None:
        """Explain the faults of a match if a bot is at fault for the first time."""
        faulty = {played.spec.bots[fault.bot].name for fault in played.result.faults}
        if faulty - self._explained:
            explain_faults(self.stderr, played)
        self._explained |= faulty

    def end(self) -> None:
        """Summarise the matches if there are several."""
        if self.expected > 1 and not self.as_json:
            resolve_name("cw.cli.output.series_table:print_series")(
                [bot.name for bot in self._matches[0].spec.bots], self._matches
            )


def explain_faults(stderr: Stderr, played: Played) -> None:
    """Print the bots' output, their faults, and how to reproduce the first fault in a reply."""
    spec, result, _ = played
    for number in dict.fromkeys(fault.bot for fault in result.faults):
        if output := last_words(result.stderr[number]):
            stderr.say(f"{spec.bots[number].name} wrote:")
            stderr.say(output, "dim", soft_wrap=True)
    different = grouped(result.faults)
    for faults in different[:SHOWN_FAULTS]:
        stderr.say(sentence(spec, faults), "yellow", soft_wrap=True)
    more = sum(map(len, different[SHOWN_FAULTS:]))
    if more:
        stderr.say(f"... and {more} more faults; the replay has them all", "yellow")
    for line in how_to_repeat(played):
        stderr.say(line, soft_wrap=True)


def grouped(faults: Sequence[MatchFault]) -> list[list[MatchFault]]:
    """Group similar faults of the same bot, in the order of the first ones.

    Numbers in their details may differ, because many of them mention a turn.
    """
    groups: dict[tuple[int, str, str], list[MatchFault]] = {}
    for fault in faults:
        pattern = NUMBER.sub("0", fault.detail)
        groups.setdefault((fault.bot, fault.kind, pattern), []).append(fault)
    return list(groups.values())
