"""What people call themselves, in files that spreadsheets split at separators of their own."""

from __future__ import annotations

import time

import pytest

from cw.championship import report
from cw.documents import harmless
from tests.documents.formulas import COLUMNS, SEPARATORS, formulas, rows_of_names


@pytest.mark.parametrize("separator", SEPARATORS)
def test_no_cell_is_a_formula_whatever_separates_them(separator: str) -> None:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in rows_of_names()]
    assert formulas(report.text_of(COLUMNS, rows), separator) == []


@pytest.mark.parametrize("text", ["Anna-Lena", "x - 1; y", "O'Neill, Jr.", "a@b.example", "3 = 3"])
def test_what_begins_no_cell_is_kept(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize("part", ["\t", ";", ' "', "=;"])
def test_a_text_is_read_in_time_that_grows_with_its_length(part: str) -> None:
    began = time.process_time()
    harmless(part * 100_000 + "a")
    assert time.process_time() - began < 2
