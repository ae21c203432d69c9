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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory

from tests.defects.defect import ROOT, Defect
from tests.defects.every import DEFECTS

SLOWEST = 900
"""Seconds after which tests that do not end have found something."""

ENDLESS = f"no end after {SLOWEST} s"
FAST, THOROUGH = "not thorough", "thorough"
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)
WORKERS = ("-n", "auto", "--dist", "worksteal")


@dataclass(frozen=True)
class Stage:
    """Tests that run together."""

    name: str
    arguments: Sequence[str]


@dataclass(frozen=True)
class Verdict:
    """Which test has found a defect, "" for none, in which stage and how soon."""

    defect: Defect
    test: str
    stage: str
    seconds: float


def stages(defect: Defect, options: argparse.Namespace) -> Iterator[Stage]:
    """Yield the tests that are tried, in their order."""
    yield Stage("likely", (*defect.tests, "-m", FAST))
    if not options.likely:
        yield Stage("fast", ("-m", FAST, *WORKERS))
    if options.all:
        yield Stage("thorough", (*defect.tests, "-m", THOROUGH))
    if options.all and not options.likely:
        yield Stage("thorough", ("-m", THOROUGH, *WORKERS))


@contextmanager
def copied() -> Iterator[Path]:
    """Give a copy of the checkout as it is now, without what git ignores."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    with TemporaryDirectory(prefix="cw-defects-") as folder:
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (copy := Path(folder, name)).parent.mkdir(parents=True, exist_ok=True)
                copy2(ROOT / name, copy)
        if (ROOT / "node_modules").is_dir():
            Path(folder, "node_modules").symlink_to(ROOT / "node_modules")
        yield Path(folder)


@contextmanager
def seeded(defect: Defect, copy: Path) -> Iterator[None]:
    """Seed a defect in a copy for a while."""
    file = copy / defect.file
    sound, unsound = file.read_text(encoding="utf-8"), defect.seeded(copy)
    try:
        write(file, unsound)
        yield
    finally:
        write(file, sound)


def write(file: Path, text: str) -> None:
    """Write a file, and forget what was compiled of it: its size and second may be the same."""
    file.write_text(text, encoding="utf-8")
    for compiled in file.parent.glob(f"__pycache__/{file.stem}.*"):
        compiled.unlink()


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy up to the first that fails; raise TimeoutExpired if they do not end."""
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments],
        cwd=copy,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=SLOWEST,
    )


def finder(stage: Stage, copy: Path, ignored: Sequence[str]) -> str:
    """Return the first test of a stage that fails in a copy, "" if none does."""
    passed_over = [part for test in ignored for part in ("--deselect", test)]
    try:
        tried = run(copy, *stage.arguments, *passed_over)
    except subprocess.TimeoutExpired:
        return ENDLESS
    # pytest says 5 where no test is left, as all likely ones are thorough.
    if tried.returncode in (0, 5):
        return ""
    failed = FAILED.search(tried.stdout)
    if failed is None:
        raise RuntimeError(f"pytest ends with {tried.returncode}: {tried.stdout}{tried.stderr}")
    return failed[1]


def judge(defect: Defect, copy: Path, options: argparse.Namespace) -> Verdict:
    """Seed a defect and look for a test that finds it: it fails with the defect, and not without.

    So a test that fails in any copy, or because the machine is busy, has found nothing.
    """
    began, ignored = time.monotonic(), list[str]()
    for stage in stages(defect, options):
        while True:
            with seeded(defect, copy):
                test = finder(stage, copy, ignored)
            if not test or test in ignored:
                break
            if test == ENDLESS or run(copy, test.partition("[")[0]).returncode == 0:
                return Verdict(defect, test, stage.name, time.monotonic() - began)
            ignored.append(test)
    return Verdict(defect, "", "", time.monotonic() - began)


def row(verdict: Verdict) -> str:
    """Return the line of a verdict."""
    finding = f"{verdict.stage}: {verdict.test}" if verdict.test else "NOT FOUND"
    sentence = f"{verdict.defect.package}: {verdict.defect.sentence}"
    return f"{verdict.seconds:6.1f} s  {sentence:<90} {finding}"


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return how many were found, by package."""
    lines = []
    for package in sorted({verdict.defect.package for verdict in verdicts}):
        own = [verdict for verdict in verdicts if verdict.defect.package == package]
        lines.append(f"{package:16} {sum(bool(one.test) for one in own):3} of {len(own):3}")
    number = sum(bool(verdict.test) for verdict in verdicts)
    return "\n".join([*lines, f"{'all':16} {number:3} of {len(verdicts):3}"])


def to_json(verdict: Verdict) -> dict[str, object]:
    """Return a verdict for programs."""
    return {
        "package": verdict.defect.package,
        "file": verdict.defect.file,
        "sentence": verdict.defect.sentence,
        "test": verdict.test or None,
        "stage": verdict.stage or None,
        "seconds": round(verdict.seconds, 1),
    }


def arguments() -> argparse.Namespace:
    """Read the arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.defects", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="a part of a file or sentence")
    parser.add_argument("--list", action="store_true", help="show the defects, and seed none")
    parser.add_argument("--likely", action="store_true", help="run no other than the likely tests")
    parser.add_argument("--all", action="store_true", help="run the thorough tests too")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each defect")
    return parser.parse_args()


def main() -> int:
    """Try the defects; 1 if one of them was not found."""
    options = arguments()
    chosen = [one for one in DEFECTS if options.only in f"{one.file} {one.sentence}"]
    if options.list:
        for one in chosen:
            print(f"{one.file}: {one.sentence}")  # noqa: T201
        return 0
    verdicts = []
    with copied() as copy:
        for one in chosen:
            verdict = judge(one, copy, options)
            verdicts.append(verdict)
            print(json.dumps(to_json(verdict)) if options.json else row(verdict), flush=True)  # noqa: T201
    if not options.json:
        print(summary(verdicts))  # noqa: T201
    return 0 if all(verdict.test for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
