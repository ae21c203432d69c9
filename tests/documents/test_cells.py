"""What people call themselves, in files that spreadsheets split at separators of their own."""

from __future__ import annotations

import csv
import io
import random
import time

import pytest

from cw.championship import spreadsheets
from cw.documents.cells import harmless
from cw_hub.competitions.tournament.host import export

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
NAMES = ("=1", "x;=HYPERLINK(1);y", "x;;=1", "x\t=1", "x,=1", 'x;"=1+1";y', '";"=1', "x; \u3000@a")


@pytest.fixture
def texts() -> list[str]:
    parts = [*SIGNS, *';,\t\r\n "', "a", "'", "\u00a0"]
    return [*NAMES, *("".join(random.choices(parts, k=random.randint(1, 8))) for _ in range(3000))]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_separates_them(texts: list[str], separator: str) -> None:
    columns = ("a", "b", "c")
    rows = [texts[at : at + 3] for at in range(0, len(texts) - 2, 3)]
    by_column = [dict(zip(columns, row, strict=True)) for row in rows]
    for file in (spreadsheets.text_of(columns, by_column), export.csv_text(columns, rows)):
        text = io.StringIO(file.removeprefix("\ufeff"), newline="")
        for row in csv.reader(text, delimiter=separator):
            assert not [cell for cell in row if cell.lstrip().startswith(tuple(SIGNS))]


@pytest.mark.parametrize("text", ["Anna-Lena", "x - 1; y", "O'Neill, Jr.", "a@b.example", "3 = 3"])
def test_what_begins_no_cell_is_kept(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize("part", ["\t", ";", ' "', "=;"])
def test_a_text_is_read_in_time_that_grows_with_its_length(part: str) -> None:
    began = time.process_time()
    harmless(part * 100_000 + "a")
    assert time.process_time() - began < 2
