"""The report of a championship in all formats: HTML, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cw.assets import asset
from cw.championship import runner
from cw.championship.config import ChampionshipSettings
from cw.championship.journal import MATCHES, Progress, stem_of
from cw.championship.report_document import TIES, Played, number, report_document, stage_words
from cw.documents import harmless
from cw.files import make_folder, write_whole
from cw.games.rules import Json
from cw.league.groups import ADVANCING

Phase: TypeAlias = Literal["running", "stopped", "over"]

PODIUM: Final = 3
"""Number of ranks shown at the top."""

SHORT: Final = 3
"""Maximum length of a table name that is taken for a group's letter."""


def page_document(
    document: Mapping[str, Any], progress: Progress, *, running: bool
) -> dict[str, Json]:
    """Return what a page needs to show a report; `running` says whether it is being played."""
    phase = phase_of(document, running=running)
    left = progress.seconds_left
    return {
        "phase": phase,
        "headline": headline(document, phase),
        "final": final_words(document),
        "game_title": title_of(document["game"]),
        "names": [table_name(standing["name"]) for standing in document["standings"]],
        "advancing": ADVANCING if document["title"] == "championship" else 0,
        "podium": list(podium(document)) if phase == "over" else [],
        "is_ranked_apart": len(document["standings"]) != 1 or bool(document["bracket"]),
        "running": running_documents(progress) if phase == "running" else [],
        "time_left": runner.in_words(left) if phase == "running" and left else None,
    }


def phase_of(document: Mapping[str, Any], *, running: bool) -> Phase:
    """Return the phase of a championship."""
    if document["over"]:
        return "over"
    return "running" if running else "stopped"


def headline(document: Mapping[str, Any], phase: Phase) -> str:
    """Return a one-line summary of the championship."""
    if phase != "over":
        return f"{document['played']} of {document['expected']} matches played"
    champions = [document["team_names"][team] for team in (document["order"] or [[]])[0]]
    if len(champions) == 1:
        return f"{champions[0]} is the champion"
    return f"{' and '.join(champions)} share first place"


def final_words(document: Mapping[str, Any]) -> str:
    """Return a sentence with the result of the final or, without a bracket, who leads the table."""
    final = document["bracket"][-1]["ties"][0] if document["bracket"] else None
    if final is None:
        return lead_words(document["standings"], document["team_names"])
    if final["winner"] is None:
        return ""
    winner, loser = sorted(final["teams"], key=final["winner"].__ne__)
    scores = [dict(zip((g["first"], g["second"]), g["score"], strict=True)) for g in final["games"]]
    legs = ", ".join(f"{number(score[winner])} : {number(score[loser])}" for score in scores)
    names = document["team_names"]
    return f"{names[winner]} beat {names[loser]} in the final {TIES[final['reason']]}: {legs}"


def lead_words(standings: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> str:
    """Return a sentence that compares the first two teams; "" if there are several tables."""
    if len(standings) != 1:
        return ""
    first, second = standings[0]["rows"][:2]
    leader, next_one = names[first["team"]], names[second["team"]]
    noise = "; the lead is within noise" if first["noise"] else ""
    return (
        f"{leader} has a win rate of {first['win_rate']:.0%}, {next_one} one of"
        f" {second['win_rate']:.0%}{noise}"
    )


def podium(document: Mapping[str, Any]) -> Iterator[dict[str, Json]]:
    """Yield the first ranks, each with its teams and what they have won."""
    records = {team["id"]: team["record"] for team in document["teams"]}
    rank = 1
    for teams in document["order"]:
        if rank > PODIUM:
            return
        yield {"rank": rank, "teams": teams, "words": merits(teams, records, document)}
        rank += len(teams)


def merits(
    teams: Sequence[str], records: Mapping[str, Mapping[str, int]], document: Mapping[str, Any]
) -> list[str]:
    """Return the wins and bonus points of the teams that share a rank."""
    words = []
    for team in teams:
        merit = f"won {records[team].get('won', 0)} of {sum(records[team].values())}"
        points = document["bonus"].get(team, 0)
        merit += f", {points} bonus point{'s' * (points > 1)}" if points else ""
        words.append(merit if len(teams) == 1 else f"{document['team_names'][team]}: {merit}")
    return words


def title_of(game: str) -> str:
    """Return the title of a game."""
    return game.replace("-", " ").title().replace(" Of ", " of ")


def table_name(name: str) -> str:
    """Return the heading of a table, for a group or for the whole contest."""
    return f"Group {name}" if len(name) <= SHORT else name.replace("-", " ").capitalize()


def running_documents(progress: Progress) -> list[dict[str, Json]]:
    """Return the matches in progress."""
    return [
        {
            "players": list(match.players),
            "stage": stage_words(match),
            "stem": stem_of(match),
            "watch": url,
        }
        for match, url in progress.running.items()
    ]


BYTE_ORDER_MARK: Final = "\ufeff"
"""Without it, Excel assumes a Windows encoding and garbles accents."""

RANKING_COLUMNS: Final = (
    "rank", "team", "name", "members", "reached", "matches", "won", "drawn", "lost", "score_for",
    "score_against", "ratio", "matches_with_faults",
)  # fmt: skip
BEFORE: Final = ("stage", "group", "round", "tie_break")
AFTER: Final = ("winner", "winner_name", "reason", "turns", "seed")
BY_SEAT: Final = ("player", "name", "rank", "score", "counted", "faults", "fault")
"""Columns repeated for each seat, with its number as a suffix."""


def matches_csv(document: Mapping[str, Any]) -> str:
    """Return CSV with one line per match; columns of seats that a match lacks are empty."""
    seats = max((len(match["players"]) for match in document["listing"]), default=2)
    by_seat = [f"{column}_{seat}" for seat in range(1, seats + 1) for column in BY_SEAT]
    codes = ["status_code"] if document["game"] == "circuit-wars" else []
    return text_of([*BEFORE, *by_seat, *AFTER, *codes], match_rows(document))


def match_rows(document: Mapping[str, Any]) -> Iterator[dict[str, Json]]:
    """Yield the values of each match, by column."""
    names = document["team_names"]
    for line, listed in zip(document["games"], document["listing"], strict=True):
        winner = line["winner"]
        row = {column: line.get(column) for column in (*BEFORE, *AFTER, "status_code")}
        row |= {"reason": listed["reason"], "tie_break": listed["tie_break"]}
        row |= {"winner_name": names[winner] if winner else None}
        for seat, player in enumerate(listed["seats"], 1):
            row |= {f"{column}_{seat}": player[column] for column in BY_SEAT if column in player}
            row[f"name_{seat}"] = names[player["player"]]
        yield row


def ranking_csv(document: Mapping[str, Any]) -> str:
    """Return CSV with one line per team, best first."""
    rows = [
        {**row, "members": ", ".join(row["members"]), "ratio": round(row["ratio"], 4)}
        for row in document["ranking"]
    ]
    return text_of(RANKING_COLUMNS, rows)


def text_of(columns: Sequence[str], rows: Iterable[Mapping[str, Json]]) -> str:
    """Return CSV with a header; numbers stay numbers, and no text can act as a formula."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in row.items()} for row in rows)
    return BYTE_ORDER_MARK + out.getvalue()


REPLAYS: Final = "replays"
"""The folder of the replay pages, inside the report's folder."""

RANKING_FILE: Final = "ranking.csv"

NOBODY_PLAYS: Final = Progress()


@dataclass(frozen=True, slots=True)
class ChampionshipReport:
    """The report of a championship, as far as it has been played."""

    document: dict[str, Json]

    def as_json(self) -> str:
        """Return the report as JSON."""
        return json.dumps(self.document, indent=1) + "\n"

    def as_csv(self) -> str:
        """Return CSV with one line per match."""
        return matches_csv(self.document)

    def ranking_as_csv(self) -> str:
        """Return CSV with one line per team, best first."""
        return ranking_csv(self.document)

    def as_markdown(self) -> str:
        """Return the tables as Markdown."""
        return rendered("championship.md", self.document)

    def as_html(self) -> str:
        """Return one self-contained page with links to the replay files."""
        style = "".join(
            (asset("static") / name).read_text(encoding="utf-8")
            for name in ("base.css", "championship.css")
        )
        places = {
            "base": f"{REPLAYS}/",
            "ending": ".html",
            "files": f"../{MATCHES}/",
            "forms": "",
            "folder": "",
            "ranking_file": RANKING_FILE,
        }
        content = self.page(NOBODY_PLAYS, running=False)
        return rendered("championship_file.html", {**content, **places, "style": style})

    def page(self, progress: Progress, *, running: bool) -> dict[str, Json]:
        """Return the template variables of the pages, without link targets."""
        return self.document | page_document(self.document, progress, running=running)


def cell(text: str) -> str:
    """Escape text for a Markdown table."""
    return re.sub(r"[\\|*_`\[\]<>]", r"\\\g<0>", text)


def rendered(template: str, document: dict[str, Json]) -> str:
    """Render a template; in HTML, values are escaped."""
    environment = Environment(
        loader=FileSystemLoader(asset("templates")),
        autoescape=template.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = cell
    return environment.get_template(template).render(document)


def report_of(
    played: Played, settings: ChampionshipSettings, progress: Progress = NOBODY_PLAYS
) -> ChampionshipReport:
    """Create the report of the finished matches and of those that could not be played."""
    return ChampionshipReport(report_document(played, settings, progress.failed, progress.warnings))


def write_report(
    folder: Path, played: Played, settings: ChampionshipSettings, progress: Progress
) -> list[Path]:
    """Write the report in all formats, and return its files.

    Each file is written completely or not at all. Raises Failure if one cannot be written.
    """
    report = report_of(played, settings, progress)
    files = {
        folder / "index.html": report.as_html(),
        folder / "report.md": report.as_markdown(),
        folder / "games.csv": report.as_csv(),
        folder / RANKING_FILE: report.ranking_as_csv(),
        folder / "report.json": report.as_json(),
    }
    private = folder / "stderr"
    make_folder(private)
    own = {private / f"{team}.txt": stderr_of(played, team) for team in settings.teams}
    for file, text in {**own, **files}.items():
        write_whole(file, text.encode())
    return list(files)


def stderr_of(played: Played, team: str) -> str:
    """Return a team's standard error output in all its matches; only this team may see it."""
    parts = []
    for entry in played.entries:
        if team in entry.players and entry.stderr:
            seat = entry.players.index(team)
            others = " and ".join(other for other in entry.players if other != team)
            text = entry.stderr[seat].strip()
            parts += [f"against {others}\n{text}\n"] if text else []
    return "\n".join(parts)
