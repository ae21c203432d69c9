"""The scripts of the site are checked with those of the arena, on which they build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser_types import ROOT, found_wrong

WRONG = ("hub/static/hub/ladder_chart.js", "hub/static/hub/main.js")


def test_the_check_takes_the_site_as_it_is_served() -> None:
    settings = json.loads((ROOT / "tsconfig.json").read_text(encoding="utf-8"))
    assert "hub/static/**/*.js" in settings["include"]
    assert settings["compilerOptions"]["rootDirs"] == ["static", "hub/static"]


@pytest.mark.thorough
def test_wrong_types_of_the_site_are_found(tmp_path: Path) -> None:
    assert found_wrong(tmp_path, WRONG, "hub/static") == list(WRONG)
