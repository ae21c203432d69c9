"""The defects that `python -m tests.defects` seeds are still those that they say they are."""

from __future__ import annotations

from pathlib import Path

from tests.defects import DEFECTS, ROOT


def test_each_defect_is_found_once_in_its_file_and_leaves_a_program() -> None:
    for defect in DEFECTS:
        text = defect.seeded(ROOT)
        assert text != (ROOT / defect.file).read_text(encoding="utf-8"), defect.wrong
        if defect.file.endswith(".py"):
            compile(text, defect.file, "exec")


def test_each_defect_names_tests_that_are_there() -> None:
    assert all((ROOT / test).exists() for defect in DEFECTS for test in defect.tests)


def test_there_are_defects_in_every_package() -> None:
    packages = {file.name for file in Path(ROOT, "cw").iterdir() if (file / "__init__.py").exists()}
    assert packages <= {Path(defect.file).parts[1].removesuffix(".py") for defect in DEFECTS}
    assert len(DEFECTS) >= 116
    assert len({defect.wrong for defect in DEFECTS}) == len(DEFECTS)
