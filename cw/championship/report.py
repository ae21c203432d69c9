"""The report of a championship in all its forms: HTML, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cw.assets import asset
from cw.championship.config import ChampionshipSettings
from cw.championship.journal import MATCHES, Progress
from cw.championship.report_document import Played, report_document
from cw.championship.report_page import page_document
from cw.files import make_folder, write_whole
from cw.games.rules import Json

CSV_OF_TWO: Final = (
    "stage", "group", "round", "player_1", "player_2", "score_1", "score_2", "status_code",
    "reason",
)  # fmt: skip
CSV: Final = (
    "stage", "group", "round", "players", "ranks", "scores", "winner", "reason", "turns", "seed",
)  # fmt: skip

REPLAYS: Final = "replays"
"""The folder of the pages of the replays, within that of the report."""

NOBODY_PLAYS: Final = Progress()


@dataclass(frozen=True, slots=True)
class ChampionshipReport:
    """All that is told of a championship, as far as it is played."""

    document: dict[str, Json]

    def as_json(self) -> str:
        """Return it for programs."""
        return json.dumps(self.document, indent=1) + "\n"

    def as_csv(self) -> str:
        """Return one line for each match."""
        out = io.StringIO()
        fields = CSV_OF_TWO if self.document["game"] == "circuit-wars" else CSV
        writer = csv.DictWriter(out, fields, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: harmless(in_a_cell(value)) for key, value in match.items()}
            for match in self.document["games"]
        )
        return out.getvalue()

    def as_markdown(self) -> str:
        """Return the tables for a page of text."""
        return rendered("championship.md", self.document)

    def as_html(self) -> str:
        """Return one page that needs nothing else, and leads to the files of the replays."""
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
        }
        shown = self.page(NOBODY_PLAYS, running=False)
        return rendered("championship_file.html", {**shown, **places, "style": style})

    def page(self, progress: Progress, *, running: bool) -> dict[str, Json]:
        """Return what the pages show beside where their links lead."""
        return self.document | page_document(self.document, progress, running=running)


def in_a_cell(value: Json) -> Json:
    """Return a list as one text."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


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


def report_of(
    played: Played, settings: ChampionshipSettings, progress: Progress = NOBODY_PLAYS
) -> ChampionshipReport:
    """Make the report of the matches that are over, and of those that could not be played."""
    return ChampionshipReport(report_document(played, settings, progress.failed, progress.warnings))


def write_report(
    folder: Path, played: Played, settings: ChampionshipSettings, progress: Progress
) -> list[Path]:
    """Write the report in all its forms, and return its files.

    Each appears whole or not at all; raises Failure if one cannot be written.
    """
    report = report_of(played, settings, progress)
    files = {
        folder / "index.html": report.as_html(),
        folder / "report.md": report.as_markdown(),
        folder / "games.csv": report.as_csv(),
        folder / "report.json": report.as_json(),
    }
    private = folder / "stderr"
    make_folder(private)
    own = {private / f"{team}.txt": stderr_of(played, team) for team in settings.teams}
    for file, text in {**own, **files}.items():
        write_whole(file, text.encode())
    return list(files)


def stderr_of(played: Played, team: str) -> str:
    """Return what a team's program wrote to its standard error: for this team alone."""
    parts = []
    for entry in played.entries:
        if team in entry.players and entry.stderr:
            seat = entry.players.index(team)
            others = " and ".join(other for other in entry.players if other != team)
            said = entry.stderr[seat].strip()
            parts += [f"against {others}\n{said}\n"] if said else []
    return "\n".join(parts)
