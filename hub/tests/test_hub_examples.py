"""The examples in docstrings of the site: each is run as it is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_examples import try_examples, with_examples

PACKAGE = Path(__file__).resolve().parents[1] / "cw_hub"


@pytest.mark.parametrize("name", with_examples(PACKAGE))
def test_examples_of_the_site_print_what_they_say(name: str) -> None:
    try_examples(name)
