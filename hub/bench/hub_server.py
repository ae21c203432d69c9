"""The hub that is measured, in a separate process: `python -m hub.bench.hub_server`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any, Final

from flask import Flask, render_template
from sqlalchemy import event, select
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from cw.server.wsgi import listen, serving
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts import tickets
from cw_hub.matches.planning import Plan, Seat, plan
from cw_hub.operation.queue import CeleryQueue
from cw_hub.operation.resources import Resources, opened
from cw_hub.operation.settings import HubSettings
from cw_hub.site.application import create_hub
from cw_hub.site.processes import begin_site
from cw_hub.store.models import Match, User
from hub.bench import daily_history, ladder_history, rated_history
from hub.bench.hub import BARE, FLASK

PEOPLE: Final = ("ada", "grace")

FIXED_ROW: Final = ("17", "bot-1234", "o123", "1444", "200", "61.5 %", "2026-11-22 18:00")
HUNDRED_ROWS: Final = """{% extends "base.html" %}{% block main %}<table>{% for _ in range(100) %}
<tr>{% for one in row %}<td>{{ one }}</td>{% endfor %}</tr>{% endfor %}</table>{% endblock %}"""
"""A page as long as one of the leaderboard, of what is known before."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until standard input ends, as it does when the parent is gone."""
    parser = ArgumentParser(prog="python -m hub.bench.hub_server", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--players", type=int, default=0, help="of a history of daily games")
    parser.add_argument("--games", type=int, default=0)
    parser.add_argument("--bots", type=int, default=0, help="of a history of rated matches")
    parser.add_argument("--matches", type=int, default=0)
    parser.add_argument("--teams", type=int, default=0, help="of a group of a tournament")
    chosen = parser.parse_args(arguments)
    # Requests seem to come from many addresses: each has its limit for a minute.
    settings = HubSettings(data=chosen.data, trusted_proxy=("127.0.0.1",))
    with opened(settings, CeleryQueue(settings)) as resources:
        if chosen.matches:
            ticket, match = fill_with_matches(resources, chosen.bots, chosen.matches)
        elif chosen.games:
            ticket, match = fill_with_games(resources, chosen.players, chosen.games)
        elif chosen.teams:
            ticket, match = fill_with_teams(resources, chosen.teams)
        else:
            ticket, match = fill(resources)
        hub = create_hub(resources)
        add_bare_routes(hub, resources)
        # The server leaves forwarded headers to an app of Flask alone, so the hub stays one.
        alone = DispatcherMiddleware(hub.wsgi_app, {FLASK: flask_alone()})
        hub.wsgi_app = alone  # type: ignore[method-assign]
        with serving(hub, listen("127.0.0.1", 0)) as address:
            print(address, cookie_of(hub, ticket), match, flush=True)
            sys.stdin.read()


def fill(resources: Resources) -> tuple[str, str]:
    """Make two people and a public match that waits; return a session and the match's name."""
    with resources.database.writing() as session:
        registered = [
            accounts_service.register(session, name, f"{name}@example.org", "no hash")
            for name in PEOPLE
        ]
        accounts_service.befriend(session, registered[0][0], PEOPLE[1])
        for user_id, _ in registered:
            accounts_service.save_profile(session, user_id, "CH", None)
        seats = (Seat("greedy", spec="builtin:greedy"), Seat("random", spec="builtin:random"))
        row = plan(session, Plan("championship", "bench", "hexagon", seats))
        match_id = session.scalars(select(Match.match_id).where(Match.id == row)).one()
        return registered[0][1], match_id


def fill_with_games(resources: Resources, players: int, games: int) -> tuple[str, str]:
    """Write a history of daily games; return a session of a player and the last game's name."""
    with resources.database.writing() as session:
        last = daily_history.write(session, players, games)
        player = session.scalars(select(User.id).order_by(User.id).limit(1)).one()
        return tickets.issue_session(session, player, remembered=True), last


def fill_with_matches(resources: Resources, bots: int, matches: int) -> tuple[str, str]:
    """Write a history of rated matches; return a session of an owner and the last match's name."""
    begin_site(resources, rest=0)
    with resources.database.writing() as session:
        rated_history.write(session, bots, matches)
        owner = session.scalars(select(User.id).where(User.username == rated_history.OWNER)).one()
        last = session.scalars(select(Match.match_id).order_by(Match.id.desc()).limit(1)).one()
        return tickets.issue_session(session, owner, remembered=True), last


def fill_with_teams(resources: Resources, teams: int) -> tuple[str, str]:
    """Write a tournament of many teams; return a session and the name of its match."""
    ticket, _ = fill(resources)
    with resources.database.writing() as session:
        ladder_history.write(session, teams)
    return ticket, ladder_history.MATCH


def cookie_of(hub: Flask, ticket: str) -> str:
    """Return the cookie of a session, as the hub signs it."""
    signer: Any = hub.session_interface.get_signing_serializer(hub)  # type: ignore[attr-defined]
    return str(signer.dumps({"ticket": ticket}))


def add_bare_routes(hub: Flask, resources: Resources) -> None:
    """Add what the benchmark compares with, and asks: no page of the hub, so without its limits."""
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if statement != "BEGIN":
            statements.append(statement)

    def point() -> str:
        with resources.database.writing() as session:
            ladder_history.give_a_point(session)
        return "a team has a point more"

    hundred = hub.jinja_env.from_string(HUNDRED_ROWS)
    layout = hub.jinja_env.from_string('{% extends "base.html" %}')
    event.listen(resources.database.engine, "before_cursor_execute", note)
    answers: Mapping[str, Callable[..., str]] = {
        "<int:size>": fixed,
        "statements": lambda: str(len(statements)),
        "processor": lambda: str(process_time()),
        "layout": lambda: render_template(layout),
        "point": point,
        "hundred": lambda: render_template(hundred, row=FIXED_ROW),
    }
    for name, view in answers.items():
        hub.add_url_rule(f"{BARE}{name}", f"bare {name}", view)


def flask_alone() -> Flask:
    """Return an app that has nothing but fixed bytes: without the guards of the hub, too."""
    app = Flask("alone", static_folder=None)
    app.add_url_rule("/<int:size>", view_func=fixed)
    return app


def fixed(size: int) -> str:
    """Return a page of this many bytes."""
    return "x" * size


if __name__ == "__main__":
    main()
