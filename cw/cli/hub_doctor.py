"""`cw hub doctor`: what a hub needs, and what is to be done."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from cw.cli.hub_options import as_json, with_settings
from cw.hub.doctor import Finding, examine
from cw.hub.settings import HubSettings
from cw.visible import visible


@click.command("doctor")
@with_settings
@as_json
def doctor(settings: HubSettings, as_json: bool) -> None:
    """Check whether a hub has all that it needs, and say what to do.

    Settings, data folder, database, clock, broker, store, mail server, keys and sealed secrets are
    tried, beside a hub that runs or before one is started. Exit code 1 if something needs doing.
    """
    findings = []
    for finding in examine(settings):
        findings.append(finding)
        if not as_json:
            click.echo(visible(line(finding)))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings]))
    if any(finding.needed and not finding.ok for finding in findings):
        raise SystemExit(1)


def line(finding: Finding) -> str:
    """Return a finding for reading, with what to do."""
    mark = "ok" if finding.ok else "to do" if finding.needed else "no"
    advice = f"; {finding.advice}" if finding.advice and not finding.ok else ""
    return " ".join(f"{mark:5}  {finding.name:12}  {finding.found}{advice}".splitlines())
