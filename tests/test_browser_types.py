"""The browser code keeps its types, and wrong ones would be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser_types import ROOT, check, found_wrong

WRONG = ("static/base.js", "static/monitor.js", "static/viewer/main.js")


def test_the_browser_code_keeps_its_types() -> None:
    result = check(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.thorough
def test_wrong_types_are_found(tmp_path: Path) -> None:
    assert found_wrong(tmp_path, WRONG) == list(WRONG)
