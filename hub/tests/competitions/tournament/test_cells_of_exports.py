"""What people call themselves, in the files that organisers take into spreadsheets."""

from __future__ import annotations

import pytest

from cw_hub.competitions.tournament import export
from tests.documents.formulas import COLUMNS, SEPARATORS, formulas, rows_of_names


@pytest.mark.parametrize("separator", SEPARATORS)
def test_no_cell_of_an_export_is_a_formula(separator: str) -> None:
    assert formulas(export.csv_text(COLUMNS, rows_of_names()), separator) == []
