"""`cw championship resume`: continues a championship."""

from __future__ import annotations

from pathlib import Path

import click

from cw.championship.config import chosen_teams, settings_of
from cw.cli.championship.options import FOLDER, HANDOUTS, JOBS, PORT, QUEUE
from cw.cli.championship.players import chosen_players, warn_unprotected
from cw.cli.championship.playing import play


@click.command("resume")
@click.argument("out", type=FOLDER)
@JOBS
@HANDOUTS
@PORT
@QUEUE
def resume_command(
    out: Path, jobs: int | None, with_handouts: bool, port: int | None, queued: bool
) -> None:
    """Continue the championship in OUT from where it stopped.

    No team is tried again before it plays.
    """
    settings = settings_of(out)
    with chosen_players(jobs, settings.sandbox, queued=queued) as new_players:
        if not queued:
            warn_unprotected(settings.game, settings.sandbox, chosen_teams(settings))
        play(out, port, new_players, with_handouts=with_handouts)
