"""`cw championship report`: the report of a championship, and where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from cw.championship.config import ChampionshipSettings, settings_of
from cw.championship.journal import Journal, Progress, load_progress, opened
from cw.championship.report import write_report
from cw.championship.report_document import Played, snapshot
from cw.cli.championship.options import FOLDER, HANDOUTS
from cw.web.championship import HANDOUTS as FOLDER_OF_ALL
from cw.web.championship import write_handouts, write_replay_pages

REPORT: Final = "report"


@click.command("report")
@click.argument("out", type=FOLDER)
@HANDOUTS
def report_command(out: Path, with_handouts: bool) -> None:
    """Rewrite the report of the championship in OUT as HTML, Markdown, CSV and JSON.

    \b
      cw championship report results --handouts     and a folder for each team
    """
    settings = settings_of(out)
    with opened(out, settings) as journal:
        for file in keep_report(journal, load_progress(out)):
            click.echo(file)
        if with_handouts:
            hand_out(journal)


def hand_out(journal: Journal) -> None:
    """Write the handouts of all teams, and print where they are."""
    folders = write_handouts(journal.folder, snapshot(journal), journal.settings)
    click.echo(f"{len(folders)} hand-outs, one for each team: {journal.folder / FOLDER_OF_ALL}")


def keep_report(journal: Journal, progress: Progress) -> list[Path]:
    """Write the report of the finished matches, and their replay pages."""
    return write_all(journal.folder, snapshot(journal), journal.settings, progress)


def write_all(
    out: Path, played: Played, settings: ChampionshipSettings, progress: Progress
) -> list[Path]:
    """Write the report and its replay pages; return the files of the report."""
    write_replay_pages(out, out / REPORT)
    return write_report(out / REPORT, played, settings, progress)
