"""`cw hub doctor`: whether a hub has everything it needs, and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import click

from cw.visible import visible
from cw_hub.bots.trial import look_at_limits, look_at_programs
from cw_hub.cli.options import as_json, with_settings
from cw_hub.competitions.doctor import look_at_games
from cw_hub.operation.health.doctor import Finding, examine, tried
from cw_hub.operation.settings import HubSettings


@click.command("doctor")
@with_settings
@as_json
def doctor(settings: HubSettings, as_json: bool) -> None:
    """Check whether a hub has everything it needs, and how to fix what it lacks.

    Tries settings, data folder, database, clock, broker, store, mail server, keys, encrypted
    secrets, the games that competitions play, a sandboxed program and what limits it, while a hub
    runs or before it starts, and changes nothing. Each line begins with `ok`, with `to do` and the
    required action, or with `no` for something that not every machine needs. Exit code 1 if
    something needs doing.
    """
    findings = []
    for finding in findings_of(settings):
        findings.append(finding)
        if not as_json:
            click.echo(visible(str(finding)))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings]))
    if any(finding.needed and not finding.ok for finding in findings):
        raise SystemExit(1)


def findings_of(settings: HubSettings) -> Iterator[Finding]:
    """Yield the findings about everything that a hub and its subjects need."""
    has_database = False
    for finding in examine(settings):
        has_database |= finding.name == "database" and finding.ok
        yield finding
    if has_database:
        yield tried("games", lambda: look_at_games(settings))
    yield tried("programs", lambda: look_at_programs(settings))
    yield from look_at_limits(settings)
