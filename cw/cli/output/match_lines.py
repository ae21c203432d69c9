"""Writes many matches as lines of a file: CSV for spreadsheets and data frames, or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import Final, TextIO

from cw.cli.output.results import Played, report_of
from cw.games.rules import Json

BEFORE: Final = ("match", "game", "seed")
BY_SEAT: Final = ("name", "rank", "score", "faults")
"""Columns repeated for each seat, with its number as a suffix."""

AFTER: Final = ("winner", "winner_seat", "won_by", "reason", "turns")


def write_each(file: TextIO, played: Sequence[Played]) -> None:
    """Write a line for each match: as CSV if the file name ends in .csv, otherwise as JSON."""
    if file.name.lower().endswith(".csv"):
        seats = range(1, len(played[0].spec.bots) + 1)
        by_seat = [f"{column}_{seat}" for seat in seats for column in BY_SEAT]
        writer = csv.DictWriter(file, [*BEFORE, *by_seat, *AFTER], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row(number, match) for number, match in enumerate(played, 1))
        return
    for number, match in enumerate(played, 1):
        file.write(json.dumps({"match": number} | report_of(match)) + "\n")


def row(number: int, match: Played) -> dict[str, Json]:
    """Return the values of a match, by column; seats are numbered from 1."""
    document, winner = report_of(match), match.result.winner
    values = {name: document[name] for name in ("game", "seed", "winner", "won_by", "reason")}
    values |= {"match": number, "turns": match.result.turns}
    values |= {"winner_seat": None if winner is None else winner + 1}
    for seat, player in enumerate(document["players"], 1):
        values |= {f"{column}_{seat}": player[column] for column in BY_SEAT[:-1]}
        values[f"faults_{seat}"] = len(player["faults"])
    return values
