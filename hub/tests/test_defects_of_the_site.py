"""The defects that `python -m tests.defects` seeds into the site are what they say they are."""

from __future__ import annotations

from pathlib import Path

from tests.defects import FILES, ROOT, defects
from tests.test_defects import are_found_once, packages_of

FILE = Path(__file__).with_name("defects.toml")
DEFECTS = defects(FILE)


def test_each_defect_of_the_site_is_found_once_and_leaves_a_program() -> None:
    assert FILE in FILES
    are_found_once(DEFECTS)


def test_there_are_defects_in_every_package_of_the_site() -> None:
    parts = {Path(defect.file).parts[2].removesuffix(".py") for defect in DEFECTS}
    # Its commands only call what others do.
    assert packages_of(ROOT / "hub" / "cw_hub") - {"cli"} <= parts
    assert len(DEFECTS) >= 46
