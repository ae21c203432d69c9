"""A handout for each team of a championship: all it may read, without other teams' output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from cw.assets import asset
from cw.championship.config import ChampionshipSettings
from cw.championship.entries import Entry
from cw.championship.journal import MATCHES, stem_of
from cw.championship.report import REPLAYS, rendered, report_of, stderr_of
from cw.championship.report_document import Played
from cw.championship.report_page import title_of
from cw.errors import Failure
from cw.files import make_folder, write_whole
from cw.games.rules import Json
from cw.replays.document import Document, decode, encode
from cw.replays.public import public_replay
from cw.web.championship.report_replays import ENDING, PackedViewer

HANDOUTS: Final = "handouts"
OUTPUT: Final = "output.txt"


def write_handouts(out: Path, played: Played, settings: ChampionshipSettings) -> list[Path]:
    """Write a handout folder for each team, and return the folders.

    Each is self-contained: a page, the replays of the team's matches, and its program's output.
    Raises Failure if a file cannot be read or written.
    """
    document, viewer = report_of(played, settings).document, PackedViewer.of(settings.game)
    return [
        write_handout(out, played, team_document(document, team), viewer) for team in settings.teams
    ]


def team_document(document: Mapping[str, Any], team: str) -> dict[str, Json]:
    """Return what a team may read; of other teams, only their results."""
    (own,) = (one for one in document["teams"] if one["id"] == team)
    rows = document["ranking"]
    return {
        "team": own,
        "names": document["team_names"],
        "game_title": title_of(document["game"]),
        "over": document["over"],
        "ranking": rows,
        "row": next((row for row in rows if row["team"] == team), None),
    }


def write_handout(
    out: Path, played: Played, document: Mapping[str, Any], viewer: PackedViewer
) -> Path:
    """Write the folder of a team, and return its path."""
    team: str = document["team"]["id"]
    folder = out / HANDOUTS / team
    replays = folder / REPLAYS
    make_folder(replays)
    viewer.write(replays)
    own = [entry for entry in played.entries if team in entry.players]
    outputs = dict(outputs_of(own, team))
    for entry in own:
        stem = stem_of(entry.fixture)
        data = encode(replay_for(out, entry, team), packed=True)
        write_whole(replays / f"{stem}{ENDING}", data)
        write_whole(replays / f"{stem}.html", viewer.page(stem, data).encode())
    write_whole(folder / OUTPUT, stderr_of(played, team).encode())
    page = {**document, "outputs": outputs, "style": style(), "replays": f"{REPLAYS}/"}
    write_whole(
        folder / "index.html",
        rendered("championship_handout.html", page | {"file_ending": ENDING}).encode(),
    )
    return folder


def outputs_of(entries: Iterable[Entry], team: str) -> Iterator[tuple[str, str]]:
    """Yield the output of a team's program in each match, with the name of the match."""
    for entry in entries:
        text = entry.stderr[entry.players.index(team)].strip() if entry.stderr else ""
        if text:
            yield stem_of(entry.fixture), text


def replay_for(out: Path, entry: Entry, team: str) -> Document:
    """Return the replay of a match for one of its teams; raise Failure if it cannot be read."""
    file = out / MATCHES / f"{stem_of(entry.fixture)}{ENDING}"
    try:
        document = decode(file.read_bytes())
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}") from None
    players = document["players"]
    names = [player["name"] for player in players]
    return public_replay(document, names, {str(players[entry.players.index(team)]["player"])})


def style() -> str:
    """Return the CSS of the page."""
    return "".join(
        (asset("static") / name).read_text(encoding="utf-8")
        for name in ("base.css", "championship.css")
    )
