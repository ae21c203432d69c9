"""`cw championship`: contests of many teams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from cw.cli.groups import CommandEntry, LazyGroup

COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "new": CommandEntry(
        "cw.cli.championship.new:new_command",
        "Create FOLDER with eight example teams, in the languages that this machine has.",
    ),
    "report": CommandEntry(
        "cw.cli.championship.report:report_command",
        "Rewrite the report of the championship in OUT as HTML, Markdown, CSV and JSON.",
    ),
    "resume": CommandEntry(
        "cw.cli.championship.resume:resume_command",
        "Continue the championship in OUT from where it stopped.",
    ),
    "run": CommandEntry(
        "cw.cli.championship.run:run_command",
        "Play the championship of the teams in DIR, a folder each, or of TEAMS.toml.",
    ),
    "table": CommandEntry(
        "cw.cli.championship.table:table_command",
        "Compute all tables from the matches recorded in RESULTS, one JSON object per line.",
    ),
    "validate": CommandEntry(
        "cw.cli.championship.validate:validate_command",
        "Let every team play a match against random moves, and report all problems.",
    ),
}


@click.group(cls=LazyGroup, places=COMMANDS)
def championship() -> None:
    """Run contests of many teams, with tables and reports.

    \b
      cw championship new teams                   eight example teams
      cw championship run teams --out results     play them, resume at any time
      cw championship table results.jsonl         tables of recorded matches
    """
