"""`python -m tests.defects`: seed one defect after the other in a copy, and see who finds it.

First the tests run that are most likely to find it, then the rest of the fast suite, and with
`--all` the thorough tests. Nothing in the checkout itself is changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
FILES = (ROOT / "tests/defects.toml", *sorted(ROOT.glob("*/tests/defects.toml")))
"""Ours, and those of what is built on it here."""

SLOWEST = 900
"""Seconds after which tests that do not end have found something."""

FAST, THOROUGH = ("-m", "not thorough"), ("-m", "thorough")
WORKERS = ("-n", "auto", "--dist", "worksteal")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+/.+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Defect:
    """A mistake that somebody might make: `code`, found once in a file, becomes something else."""

    file: str
    wrong: str
    code: str
    becomes: str
    tests: list[str]

    def seeded(self, root: Path) -> str:
        """Return the text of its file with it; raise ValueError unless the code is found once."""
        text = (root / self.file).read_text(encoding="utf-8")
        if text.count(self.code) != 1:
            raise ValueError(f"{self.file} has {self.code!r} {text.count(self.code)} times")
        return text.replace(self.code, self.becomes)

    def stages(self, options: argparse.Namespace) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the arguments of the tests that are tried, in their order, each with a name."""
        yield "likely", (*self.tests, *FAST)
        if not options.likely:
            yield "fast", (*FAST, *WORKERS)
        if options.all:
            yield "thorough", (*self.tests, *THOROUGH)
        if options.all and not options.likely:
            yield "thorough", (*THOROUGH, *WORKERS)


def defects(*files: Path) -> list[Defect]:
    """Return the defects in files."""
    return [
        Defect(**one) for file in files for one in tomllib.loads(file.read_text("utf-8"))["defect"]
    ]


def fill(copy: Path) -> None:
    """Copy the checkout as it is now, without what git ignores."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            copy2(ROOT / name, copy / name)
    if (ROOT / "node_modules").is_dir():
        (copy / "node_modules").symlink_to(ROOT / "node_modules")


def write(file: Path, text: str) -> None:
    """Write a file, and forget what was compiled of it: its size and second may be the same."""
    file.write_text(text, encoding="utf-8")
    for compiled in file.parent.glob(f"__pycache__/{file.stem}.*"):
        compiled.unlink()


def failure(copy: Path, *arguments: str) -> str:
    """Return the first test that fails in a copy, "" if none does."""
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    try:
        tried = subprocess.run(
            command, cwd=copy, env=environment, check=False, capture_output=True, text=True,
            timeout=SLOWEST,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no end after {SLOWEST} s"
    # pytest says 5 where no test is left, as all likely ones are thorough.
    if tried.returncode in (0, 5):
        return ""
    failed = FAILED.search(tried.stdout)
    if failed is None:
        raise RuntimeError(f"pytest ends with {tried.returncode}: {tried.stdout}{tried.stderr}")
    return failed[1]


def find(defect: Defect, copy: Path, options: argparse.Namespace) -> tuple[str, str]:
    """Return a test that fails with a defect and not without, and its stage; ("", "") for none.

    So a test that fails in any copy, or because the machine is busy, has found nothing.
    """
    file, ignored = copy / defect.file, list[str]()
    sound, unsound = file.read_text(encoding="utf-8"), defect.seeded(copy)
    for stage, arguments in defect.stages(options):
        test = ""
        while not test:
            write(file, unsound)
            try:
                test = failure(copy, *arguments, *(f"--deselect={name}" for name in ignored))
            finally:
                write(file, sound)
            if not test or test in ignored:
                break
            if "::" not in test or not failure(copy, test.partition("[")[0]):
                return test, stage
            ignored.append(test)
            test = ""
    return "", ""


def main() -> int:
    """Try the defects; 1 if one of them was not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.defects", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="a part of a file or sentence")
    parser.add_argument("--list", action="store_true", help="show the defects, and seed none")
    parser.add_argument("--likely", action="store_true", help="run no other than the likely tests")
    parser.add_argument("--all", action="store_true", help="run the thorough tests too")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each defect")
    options = parser.parse_args()
    chosen = [one for one in defects(*FILES) if options.only in f"{one.file}: {one.wrong}"]
    found = 0
    with TemporaryDirectory(prefix="cw-defects-") as folder:
        if not options.list:
            fill(Path(folder))
        for one in chosen:
            line = f"{one.file}: {one.wrong}"
            if not options.list:
                began = time.monotonic()
                test, stage = find(one, Path(folder), options)
                found += bool(test)
                seconds = round(time.monotonic() - began, 1)
                line = f"{seconds:6.1f} s  {line:<120} {stage}: {test or 'NOT FOUND'}"
                if options.json:
                    result = {"test": test or None, "stage": stage or None, "seconds": seconds}
                    line = json.dumps({"file": one.file, "wrong": one.wrong} | result)
            print(line, flush=True)  # noqa: T201
    if not options.list and not options.json:
        print(f"{found} of {len(chosen)} found")  # noqa: T201
    return 0 if options.list or found == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
