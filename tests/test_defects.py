"""The defects that `python -m tests.defects` seeds are still those that they say they are."""

from __future__ import annotations

from pathlib import Path

from tests.defects.defect import ROOT
from tests.defects.every import DEFECTS


def test_each_defect_is_found_once_in_its_file_and_leaves_a_program() -> None:
    for defect in DEFECTS:
        text = defect.seeded(ROOT)
        assert text != (ROOT / defect.file).read_text(encoding="utf-8"), defect.sentence
        if defect.file.endswith(".py"):
            compile(text, defect.file, "exec")


def test_each_defect_names_tests_that_are_there() -> None:
    missing = {test for defect in DEFECTS for test in defect.tests if not (ROOT / test).exists()}
    assert not missing


def test_there_are_defects_in_every_package() -> None:
    packages = {file.name for file in Path(ROOT, "cw").iterdir() if (file / "__init__.py").exists()}
    named = {defect.package.removeprefix("cw.") for defect in DEFECTS}
    assert packages - named <= {"kits"}
    assert len(DEFECTS) >= 60
    assert len({defect.sentence for defect in DEFECTS}) == len(DEFECTS)
