"""The report of a championship: tables, cross tables, bracket, and every team's games."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cw.assets import asset
from cw.championship.journal import Journal, game_of, written_whole
from cw.championship.runner import ChampionshipSettings, stem_of
from cw.games.rules import Json
from cw.league.formats import Championship, Standing
from cw.league.standings import seat_advantage, within_noise

SIGNS: Final = {4: "!", 5: "^"}
"""Why a team lost without playing on, by the first digit of the status code."""


@dataclass(frozen=True, slots=True)
class ChampionshipReport:
    """All that is told of a championship, as far as it is played."""

    document: dict[str, Json]

    def as_json(self) -> str:
        """Return it for programs."""
        return json.dumps(self.document, indent=1) + "\n"

    def as_csv(self) -> str:
        """Return one line for each game."""
        out = io.StringIO()
        fields = ["stage", "group", "round", "player_1", "player_2", "score_1", "score_2",
                  "status_code", "reason"]  # fmt: skip
        writer = csv.DictWriter(out, fields, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: harmless(value) for key, value in game.items()} for game in self.document["games"]
        )
        return out.getvalue()

    def as_markdown(self) -> str:
        """Return the tables for a page of text."""
        return rendered("championship.md", self.document)

    def as_html(self, running: Sequence[Json] | None = None) -> str:
        """Return one page that needs nothing else.

        `running` are the games being played, for a live page, which asks for itself again.
        """
        live = {"live": running is not None, "running": running or ()}
        return rendered("championship.html", self.document | live)


def harmless(value: Json) -> Json:
    """Keep a spreadsheet from taking a text for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" else value


def rendered(template: str, document: dict[str, Json]) -> str:
    """Fill a template; in HTML all names are text."""
    environment = Environment(
        loader=FileSystemLoader(asset("templates")),
        autoescape=template.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(document)


def report_of(journal: Journal, settings: ChampionshipSettings) -> ChampionshipReport:
    """Make the report of the games that are over."""
    contest, results = settings.contest(), journal.results
    games = [public_line(line) for line in journal.lines]
    standings = [standing_document(one, journal) for one in contest.standings(results)]
    bracket = [
        {"name": ties[0].stage, "ties": [tie_document(tie, results) for tie in ties]}
        for ties in contest.bracket(results)
    ]
    seats = seat_advantage(results.values())
    bonus = contest.bonus(results) if isinstance(contest, Championship) else {}
    over = not list(waiting(settings, journal))
    return ChampionshipReport(
        {
            "title": settings.format,
            "over": over,
            "played": len(games),
            "stems": [stem_of(game_of(line)) for line in journal.lines],
            "standings": standings,
            "bracket": bracket,
            "bonus": bonus,
            "order": [list(equal) for equal in contest.order(results)] if games else [],
            "seats": seats
            and {
                "first_wins": seats.first_wins,
                "games": seats.games,
                "interval": list(seats.interval),
                "within_noise": seats.within_noise,
            },
            "teams": [team_document(team, journal) for team in settings.teams],
            "games": games,
        }
    )


def waiting(settings: ChampionshipSettings, journal: Journal) -> Iterator[Any]:
    """Return the games that are still to be played."""
    for games in settings.contest().rounds(journal.results):
        yield from (game for game in games if game not in journal.results)


def public_line(line: dict[str, Json]) -> dict[str, Json]:
    """Return a game as the report tells it: without what only its team may read."""
    result = {key: value for key, value in line.items() if key not in ("stderr", "first", "second")}
    reasons = [noted["detail"] for noted in line.get("reasons", [])]
    return result | {"reason": reasons[0] if reasons else "", "winner": winner_of(line)}


def winner_of(line: dict[str, Json]) -> str:
    """Name the winner of a game."""
    kind, player = divmod(int(line["status_code"]), 100)
    won = player if kind == 3 else 3 - player
    return str(line[f"player_{won}"])


def standing_document(standing: Standing, journal: Journal) -> dict[str, Json]:
    """Return a table with the crosses of its teams."""
    teams = [row.team for row in standing.rows]
    rows = standing.rows
    return {
        "name": standing.name,
        "done": standing.done,
        "notes": list(standing.settled.notes),
        "rows": [
            {
                "rank": row.rank,
                "team": row.team,
                "wins": row.record.wins,
                "losses": row.record.losses,
                "score_for": row.record.score_for,
                "score_against": row.record.score_against,
                "ratio": float(row.record.ratio),
                "interval": row.record.interval and list(row.record.interval),
                "noise": bool(
                    number + 1 < len(rows)
                    and row.record.games
                    and rows[number + 1].record.games
                    and within_noise(row.record, rows[number + 1].record)
                ),
                "cells": [cell(row.team, other, standing.name, journal) for other in teams],
            }
            for number, row in enumerate(rows)
        ],
    }


def cell(first: str, second: str, name: str, journal: Journal) -> dict[str, Json] | None:
    """Return the game that a team has played from the first seat against another one."""
    for line in journal.lines:
        game = game_of(line)
        met = (game.first, game.second) == (first, second) and not game.extra
        if met and name in (game.group, game.stage):
            return score(line)
    return None


def score(line: dict[str, Json]) -> dict[str, Json]:
    """Return a score, with ^ for a time-out and ! for an illegal move beside who made it."""
    kind, player = divmod(int(line["status_code"]), 100)
    signs = ["", ""]
    if kind in SIGNS:
        signs[player - 1] = SIGNS[kind]
    return {
        "score": [line["score_1"], line["score_2"]],
        "signs": signs,
        "first_won": winner_of(line) == line["player_1"],
    }


def tie_document(tie: Any, results: Any) -> dict[str, Json]:
    """Return a tie of the bracket."""
    return {
        "teams": list(tie.teams),
        "winner": tie.winner,
        "reason": tie.reason,
        "games": [
            {"first": game.first, "second": game.second, "score": list(results[game].score)}
            for game in tie.games
            if game in results
        ],
    }


def team_document(team: str, journal: Journal) -> dict[str, Json]:
    """Return all games of a team, and how long it thought."""
    games = []
    for line in journal.lines:
        if team in (line["player_1"], line["player_2"]):
            seat = 0 if line["player_1"] == team else 1
            games.append(
                public_line(line)
                | {
                    "seat": seat + 1,
                    "won": winner_of(line) == team,
                    "longest": line.get("longest_ms", [0, 0])[seat],
                    "median": line.get("median_ms", [0, 0])[seat],
                }
            )
    return {"id": team, "games": games, "lost": [game for game in games if not game["won"]]}


def write_report(folder: Path, journal: Journal, settings: ChampionshipSettings) -> list[Path]:
    """Write the report in all its forms; each file appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    report = report_of(journal, settings)
    files = {
        "index.html": report.as_html(),
        "report.md": report.as_markdown(),
        "games.csv": report.as_csv(),
        "report.json": report.as_json(),
    }
    private = folder / "stderr"
    private.mkdir(exist_ok=True)
    for team in settings.teams:
        written_whole(private / f"{team}.txt", stderr_of(journal, team))
    return [written_whole(folder / name, text) for name, text in files.items()]


def stderr_of(journal: Journal, team: str) -> str:
    """Return what a team's client wrote to its standard error: for this team alone."""
    parts = []
    for line in journal.lines:
        for seat, other in ((0, 2), (1, 1)):
            said = line.get("stderr", ["", ""])[seat].strip()
            if line[f"player_{seat + 1}"] == team and said:
                parts.append(f"against {line[f'player_{other}']}\n{said}\n")
    return "\n".join(parts)
