"""`cw check`: what is wrong with a bot, in words that say what to do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from cw.arena.bots import read_bots
from cw.cli.announcements import Announcements
from cw.cli.options import SANDBOX
from cw.files import write_whole
from cw.games.registry import load_strategies
from cw.matches.check import Finding, check
from cw.matches.junit import junit
from cw.matches.spec import Isolation, SandboxPolicy
from cw.visible import visible


@click.command("check")
@click.argument("game")
@click.argument("bot")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME.KEY=VALUE", help="Setting of the bot."
)
@SANDBOX
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each step.")
@click.option(
    "--junit",
    "report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write JUnit XML, a test case for each step.",
)
def check_command(
    game: str,
    bot: str,
    settings: tuple[str, ...],
    sandbox: SandboxPolicy,
    as_json: bool,
    report: Path | None,
) -> None:
    """Test BOT on all that GAME may ask, and explain what is wrong.

    The steps of the protocol come first, then whole matches. Exit code 1 if a step has failed,
    2 if what was asked for makes no sense and nothing was tried.

    \b
      cw check paint ./bot.py
      cw check hexagon http://127.0.0.1:3000
      cw check code-battle me=http://127.0.0.1:8080 --set me.secret=env:BOT_SECRET
    """
    read = read_bots([bot], settings, load_strategies(game))
    findings = []
    console = Console(stderr=True)
    with console.status("") as status:
        found = check(
            game,
            read.bots[0],
            read.secrets,
            Isolation(sandbox),
            lambda tried: status.update(f"trying: {tried}"),
            Announcements(console),
        )
        for finding in found:
            findings.append(finding)
            click.echo(json.dumps(finding.to_json()) if as_json else visible(in_words(finding)))
    if report:
        write_whole(report, junit(game, read.bots[0], findings))
    failed = [finding for finding in findings if finding.problem is not None]
    if not as_json:
        click.echo(visible(summary(failed)))
    if failed:
        raise SystemExit(1)


def summary(failed: Sequence[Finding]) -> str:
    """Return the last line: what has failed, and how."""
    if not failed:
        return "all fine"
    said = "; ".join(f"{one.name}: {one.brief}" for one in failed)
    return f"{len(failed)} failed: {said}; the steps after it are tried once this is fixed"


def in_words(finding: Finding) -> str:
    """Return a step as lines for reading."""
    if finding.problem is None:
        return f"ok      {finding.name}"
    return f"FAILED  {finding.name}\n        {finding.problem}\n        fix: {finding.fix}"
