"""The report of a championship in all formats: HTML, Markdown, CSV and JSON."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cw.assets import asset
from cw.championship.config import ChampionshipSettings
from cw.championship.journal import MATCHES, Progress
from cw.championship.report_document import Played, report_document
from cw.championship.report_page import page_document
from cw.championship.spreadsheets import matches_csv, ranking_csv
from cw.files import make_folder, write_whole
from cw.games.rules import Json

REPLAYS: Final = "replays"
"""The folder of the replay pages, within that of the report."""

RANKING: Final = "ranking.csv"

NOBODY_PLAYS: Final = Progress()


@dataclass(frozen=True, slots=True)
class ChampionshipReport:
    """The report of a championship, as far as it has been played."""

    document: dict[str, Json]

    def as_json(self) -> str:
        """Return the report as JSON."""
        return json.dumps(self.document, indent=1) + "\n"

    def as_csv(self) -> str:
        """Return one line per match, for spreadsheets."""
        return matches_csv(self.document)

    def ranking_as_csv(self) -> str:
        """Return one line per team, for spreadsheets."""
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
            "ranking_file": RANKING,
        }
        content = self.page(NOBODY_PLAYS, running=False)
        return rendered("championship_file.html", {**content, **places, "style": style})

    def page(self, progress: Progress, *, running: bool) -> dict[str, Json]:
        """Return the variables of the pages, without the targets of links."""
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
    """Make the report of the finished matches and of those that could not be played."""
    return ChampionshipReport(report_document(played, settings, progress.failed, progress.warnings))


def write_report(
    folder: Path, played: Played, settings: ChampionshipSettings, progress: Progress
) -> list[Path]:
    """Write the report in all formats, and return its files.

    Each appears whole or not at all. Raises Failure if one cannot be written.
    """
    report = report_of(played, settings, progress)
    files = {
        folder / "index.html": report.as_html(),
        folder / "report.md": report.as_markdown(),
        folder / "games.csv": report.as_csv(),
        folder / RANKING: report.ranking_as_csv(),
        folder / "report.json": report.as_json(),
    }
    private = folder / "stderr"
    make_folder(private)
    own = {private / f"{team}.txt": stderr_of(played, team) for team in settings.teams}
    for file, text in {**own, **files}.items():
        write_whole(file, text.encode())
    return list(files)


def stderr_of(played: Played, team: str) -> str:
    """Return what a team's program wrote to its standard error: for this team only."""
    parts = []
    for entry in played.entries:
        if team in entry.players and entry.stderr:
            seat = entry.players.index(team)
            others = " and ".join(other for other in entry.players if other != team)
            text = entry.stderr[seat].strip()
            parts += [f"against {others}\n{text}\n"] if text else []
    return "\n".join(parts)
