"""The lists of faults in the documents are what real programs are told."""

from __future__ import annotations

import pytest

from tests.matches.fault_cases import CASES, PAGE, renewed


@pytest.mark.thorough
@pytest.mark.limits_of_the_rules
@pytest.mark.parametrize("game", CASES)
def test_the_list_of_faults_is_what_authors_read(game: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert renewed(page, game) == page, "python -m tests.matches.fault_cases writes the lists"
