"""The events of a tournament."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any, get_args

import click

from cw.errors import UsageError, short
from cw.league.ladder.phases import EventKind
from cw_hub.cli.options import as_json, with_settings
from cw_hub.cli.tournament.acting import act, find
from cw_hub.cli.user import opened, tell
from cw_hub.clock import utc_now
from cw_hub.competitions.tournament import events as tournament_events
from cw_hub.competitions.tournament.config import (
    read_event,
)
from cw_hub.competitions.tournament.host import overview, undo
from cw_hub.operation.settings import HubSettings


@click.command()
@click.argument("slug")
@click.argument("kind", type=click.Choice(get_args(EventKind)), required=False)
@click.option("--at", default="", help="Time in UTC, such as 2027-01-31T18:00.  [default: now]")
@click.option("--title", default="", help="Title of the countdown.  [default: the kind]")
@click.option("--text", default="", help="Further text, shown once it has occurred.")
@click.option("--group", default="", help="Sandbox of the event.  [default: all]")
@click.option("--boards", default="", help="JSON: a list of boards with their options.")
@click.option("--replace", "replaces", is_flag=True, help="Replace the other boards by these.")
@click.option("--announced", is_flag=True, help="Show the title in advance.")
@click.option("--cancel", type=int, metavar="ID", help="Cancel the event with this ID.")
@click.option("--undo-end", is_flag=True, help="Undo the end of the tournament, within an hour.")
@with_settings
@as_json
def event(
    settings: HubSettings,
    slug: str,
    kind: EventKind | None,
    at: str,
    title: str,
    text: str,
    group: str,
    boards: str,
    cancel: int | None,
    *,
    replaces: bool,
    announced: bool,
    undo_end: bool,
    as_json: bool,
) -> None:
    """Plan or cancel an event; without KIND, list the events."""
    if cancel is not None:
        act(settings, slug, tournament_events.remove_event, cancel)
    if undo_end:
        act(settings, slug, undo.undo_end)
    if kind is not None:
        required = {"kind": kind, "at": read_time(at), "title": title or kind.capitalize()}
        texts = {"text": text, "group": group, "mode": "replace" if replaces else "add"}
        planned = read_event(
            {**required, **texts, "announced": announced, "boards": read_json(boards)}
        )
        act(settings, slug, tournament_events.add_event, planned, is_late=not at)
    with opened(settings) as database, database.reading() as session:
        listed = overview.events(session, find(session, slug).id)
    for event in listed:
        state = "occurred" if event.applied_at else "planned"
        words = (
            f"{event.id}  {event.at:%Y-%m-%d %H:%M:%S} UTC  {event.kind}  {event.title}  {state}"
        )
        tell(asdict(event), words, as_json=as_json)


def read_time(text: str) -> datetime:
    """Return the given time, or now; raise UsageError if invalid."""
    try:
        return datetime.fromisoformat(text) if text else utc_now()
    except ValueError:
        raise UsageError(f"{short(text)} is not a time (try 2027-01-31T18:00)") from None


def read_json(text: str) -> Any:
    """Return the given list of boards; raise UsageError if it is not JSON."""
    try:
        return json.loads(text or "[]")
    except (ValueError, RecursionError):
        raise UsageError(
            f'{short(text)} is not JSON (try [{{"options": {{"size": 5}}}}])'
        ) from None
