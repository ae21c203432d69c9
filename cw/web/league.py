"""The page of a local league, with its tables and latest matches."""

from __future__ import annotations

from dataclasses import dataclass
from secrets import token_hex
from typing import Final

from flask import (
    Blueprint,
    Flask,
    Response,
    current_app,
    render_template,
)

from cw.games.rules import Json
from cw.lab.comparison import counted
from cw.lab.journal import Journal, MatchLine
from cw.lab.league import League, LeagueStandings, replays_of
from cw.web.championship import changed_part, contest_server, whole_page
from cw.web.frames import game_title
from cw.web.replay_store import ReplayStore

routes = Blueprint("league", __name__, url_prefix="/league")

LATEST: Final = 30
"""Number of matches listed; all are among the replays."""

MOST_CROSSED: Final = 20
"""Maximum number of versions in the cross table, as the page is sent after every match."""


@dataclass(frozen=True, slots=True)
class Stand:
    """A snapshot of a league."""

    tag: str
    standing: LeagueStandings
    latest: tuple[MatchLine, ...]
    """Its latest matches, newest first."""


class LeagueDisplay:
    """The league shown on the page, as of the last match."""

    def __init__(self, league: League, journal: Journal, standing: LeagueStandings) -> None:
        """Show the league as it is before this run."""
        self.league = league
        self._journal = journal
        # Unique per run, as a page left open may poll the next run, which counts from 0 again.
        self._run, self._number = token_hex(8), 0
        self.show(standing)

    def show(self, standing: LeagueStandings) -> None:
        """Show new standings."""
        self._number += 1
        latest = tuple(self._journal.lines.values())[: -LATEST - 1 : -1]
        self.stand = Stand(f"{self._run}-{self._number}", standing, latest)


def league_app(league: LeagueDisplay) -> Flask:
    """Return an application that shows a league and its replays."""
    app = contest_server("league")
    app.extensions["league"] = league
    app.extensions["replay_store"] = ReplayStore(replays_of(league.league))
    app.register_blueprint(routes)
    return app


@routes.get("/")
def page() -> Response:
    """Render the tables and the latest matches."""
    now = display().stand
    return whole_page("league.html", now.tag, values_of(now))


@routes.get("/stand")
def stand() -> Response:
    """Return the changing part of the page; 304 if unchanged."""
    now = display().stand
    return changed_part(now.tag, lambda: render_template("league_content.html", **values_of(now)))


def display() -> LeagueDisplay:
    """Return the league shown by this server."""
    league: LeagueDisplay = current_app.extensions["league"]
    return league


def values_of(now: Stand) -> dict[str, Json]:
    """Return the template variables."""
    league = display().league
    places = now.standing.places
    return {
        "folder": league.folder.name,
        "game_title": game_title(league.game),
        "headline": counted(now.standing.matches, "match"),
        "places": places,
        "crossed": places[:MOST_CROSSED],
        "cross": now.standing.cross,
        "latest": [match_of(line) for line in now.latest],
    }


def match_of(line: MatchLine) -> dict[str, Json]:
    """Return a match for the page: its bots by rank, and each bot's number of faults."""
    ranked = sorted(
        zip(line.ranks, line.bots, strict=True), key=lambda one: one[0] or len(line.bots) + 1
    )
    return {
        "id": line.id,
        "ranked": ranked,
        "faults": {bad.bot: sum(bad.kinds.values()) for bad in line.faults},
    }
