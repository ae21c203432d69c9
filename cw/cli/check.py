"""`cw check`: reports what is wrong with a bot, and how to fix it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from cw.arena.bots import read_bots
from cw.arena.program import ERROR_OUTPUT
from cw.cli.options import SANDBOX, VERBOSE
from cw.cli.output.announcements import Announcements
from cw.cli.output.check_progress import CheckProgress
from cw.cli.output.last_words import last_words
from cw.cli.output.stderr import Stderr
from cw.errors import visible
from cw.files import write_whole
from cw.games.registry import load_strategies
from cw.matches.check import Candidate, Finding, check, junit
from cw.matches.spec import Isolation, SandboxPolicy


@click.command("check")
@click.argument("game")
@click.argument("bot")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME.KEY=VALUE",
    help="A setting of the bot, as for `cw play`; may be repeated.",
)
@SANDBOX
@VERBOSE
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each step.")
@click.option(
    "--junit",
    "report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write JUnit XML, a test case for each step; not with exit code 2.",
)
def check_command(
    game: str,
    bot: str,
    settings: tuple[str, ...],
    sandbox: SandboxPolicy,
    verbose: bool,
    as_json: bool,
    report: Path | None,
) -> None:
    """Test BOT with every request GAME can send.

    First come the steps of the protocol, then whole matches against built-in strategies, on unusual
    boards and from difficult positions. The check stops at the first failed step, and says what was
    received and how to fix it. A note does not fail the bot: usual contests do not need what it
    names, such as boards of other sizes in Circuit Wars. Bots from `python:` and `builtin:` use no
    protocol, and play the matches only.

    Exit code 1 if a step failed, 2 if nothing was tested because there is no such game, file or
    setting.

    \b
      cw check paint ./bot.py
      cw check hexagon http://127.0.0.1:3000
      cw check code-battle me=http://127.0.0.1:8080 --set me.secret=env:BOT_SECRET
    """
    arguments = read_bots([bot], settings, load_strategies(game))
    candidate = Candidate(game, arguments.bots[0], arguments.secrets, Isolation(sandbox))
    findings = []
    stderr = Stderr()
    with CheckProgress(stderr, Announcements(stderr, verbose=verbose)) as progress:
        for finding in check(candidate, progress.trying, progress.announce):
            findings.append(finding)
            with progress.hidden():
                click.echo(json.dumps(finding.to_json()) if as_json else visible(in_words(finding)))
    if report:
        write_whole(report, junit(game, candidate.bot, findings))
    if not as_json:
        click.echo(visible(summary(findings, progress.total)))
    if findings[-1].failed:
        raise SystemExit(1)


def summary(findings: Sequence[Finding], total: int) -> str:
    """Return the last line: what failed and how many steps were skipped, or the number of notes."""
    last = findings[-1]
    if not last.failed:
        notes = sum(finding.problem is not None for finding in findings)
        return f"all fine, with {notes} note{'s' * (notes != 1)}" if notes else "all fine"
    left = total - len(findings)
    steps = "step runs" if left == 1 else "steps run"
    rest = f"; {left} more {steps} once this is fixed" if left else ""
    return f"1 failed: {last.name}: {last.brief}{rest}"


def in_words(finding: Finding) -> str:
    """Return a step as lines of text."""
    if finding.problem is None:
        return f"ok      {finding.name}"
    problem, mark, output = finding.problem.partition(ERROR_OUTPUT)
    if finding.is_note:
        return f"note    {finding.name}\n        {problem}\n        {finding.fix}"
    written = last_words(output).splitlines()
    lines = [problem, *([mark.strip("; "), *written] if written else [])]
    return "\n        ".join([f"FAILED  {finding.name}", *lines, f"fix: {finding.fix}"])
