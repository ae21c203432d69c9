"""The matches and the ranking of a championship as CSV for spreadsheets: one value per column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from cw.documents.cells import harmless
from cw.games.rules import Json

BYTE_ORDER_MARK: Final = "\ufeff"
"""Without it, Excel assumes a Windows encoding and garbles accents."""

RANKING: Final = (
    "rank", "team", "name", "members", "reached", "matches", "won", "drawn", "lost", "score_for",
    "score_against", "ratio", "matches_with_faults",
)  # fmt: skip
BEFORE: Final = ("stage", "group", "round", "tie_break")
AFTER: Final = ("winner", "winner_name", "reason", "turns", "seed")
BY_SEAT: Final = ("player", "name", "rank", "score", "counted", "faults", "fault")
"""Columns repeated for each seat, with its number as a suffix."""


def matches_csv(document: Mapping[str, Any]) -> str:
    """Return one line per match; columns of seats that it does not have are empty."""
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
    """Return one line per team, best first."""
    rows = [
        {**row, "members": ", ".join(row["members"]), "ratio": round(row["ratio"], 4)}
        for row in document["ranking"]
    ]
    return text_of(RANKING, rows)


def text_of(columns: Sequence[str], rows: Iterable[Mapping[str, Json]]) -> str:
    """Return CSV with headings; numbers stay numbers, and no text is a formula."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in row.items()} for row in rows)
    return BYTE_ORDER_MARK + out.getvalue()
