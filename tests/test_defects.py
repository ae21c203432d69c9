"""The defects that `python -m tests.defects` seeds are still those that they say they are."""

from __future__ import annotations

from pathlib import Path

from tests.defects import FILES, ROOT, Defect, defects

DEFECTS = defects(FILES[0])


def are_found_once(seeded: list[Defect]) -> None:
    """Check that defects stand in their files, leave programs there, and name tests."""
    for defect in seeded:
        text = defect.seeded(ROOT)
        assert text != (ROOT / defect.file).read_text(encoding="utf-8"), defect.wrong
        if defect.file.endswith(".py"):
            compile(text, defect.file, "exec")
        assert [test for test in defect.tests if not (ROOT / test).exists()] == []
    assert len({defect.wrong for defect in seeded}) == len(seeded)


def packages_of(folder: Path) -> set[str]:
    """Return the names of the packages in a folder."""
    return {file.name for file in folder.iterdir() if (file / "__init__.py").exists()}


def test_each_defect_is_found_once_in_its_file_and_leaves_a_program() -> None:
    are_found_once(DEFECTS)


def test_there_are_defects_in_every_package() -> None:
    parts = {Path(defect.file).parts[1].removesuffix(".py") for defect in DEFECTS}
    assert packages_of(ROOT / "cw") <= parts
    assert len(DEFECTS) >= 72
