"""What a run of tests says of itself: the seed of a failure, and what was not tried."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import not_tried

ROOT = Path(__file__).resolve().parents[1]

DRAWING = """
import random, secrets
from random import SystemRandom

def test_one():
    assert not [random.random(), secrets.token_hex(4), SystemRandom().randint(0, 10**9)]

def test_two():
    assert not [random.random(), secrets.token_hex(4), SystemRandom().randint(0, 10**9)]
"""

SKIPPED = """
import pytest

pytestmark = pytest.mark.skipif(True, reason="needs Redis (apt install redis-server)")

def test_one(): ...
def test_two(): ...
def test_three(): pytest.skip("needs Linux")
"""

SEVERAL = "\n".join(f"def test_{number}(): ..." for number in range(20))


def run(folder: Path, source: str, *options: str, **settings: str) -> str:
    """Run tests of a module of its own under the plugins of these tests; return what is printed."""
    (folder / "test_module.py").write_text(source, encoding="utf-8")
    own = ["-c", str(ROOT / "pyproject.toml"), "-p", "tests.fixtures", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *own, "--rootdir", str(folder), *options, "."]
    path = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", **settings}
    done = subprocess.run(
        command, cwd=folder, env=path, capture_output=True, text=True, check=False
    )
    return done.stdout


def drawn(printed: str) -> list[str]:
    return re.findall(r"^E +AssertionError: assert not (\[.*\])$", printed, re.M)


def test_a_failure_is_repeated_by_the_seed_that_it_prints(tmp_path: Path) -> None:
    printed = run(tmp_path, DRAWING)
    (seed,) = set(re.findall(r"^CW_SEED=(\d+)$", printed, re.M))
    first, second = drawn(printed)
    assert first != second
    assert drawn(run(tmp_path, DRAWING, CW_SEED=seed)) == [first, second]
    assert drawn(run(tmp_path, DRAWING, "-k", "two", CW_SEED=seed)) == [second]
    assert drawn(run(tmp_path, DRAWING)) != [first, second]


def test_a_repeated_test_draws_anew_each_time(tmp_path: Path) -> None:
    values = drawn(run(tmp_path, DRAWING, "--repeat", "3", CW_SEED="1"))
    assert len({*values}) == len(values) == 6


def test_tests_run_in_the_random_order_of_a_seed(tmp_path: Path) -> None:
    orders = [
        re.findall(r"::(\w+)", run(tmp_path, SEVERAL, "-v", *options))
        for options in ((), ("--shuffle", "1"), ("--shuffle", "1"), ("--shuffle", "2"))
    ]
    usual, shuffled, again, other = orders
    assert usual == [f"test_{number}" for number in range(20)]
    assert shuffled == again
    assert len({*map(tuple, orders)}) == 3
    assert {*shuffled} == {*other} == {*usual}


def test_what_has_passed_before_is_left_out(tmp_path: Path) -> None:
    failing = SEVERAL + "\ndef test_failing(): assert 0"
    run(tmp_path, failing, "--passed-to", "passed", "-n", "2", "-k", "test_1 or failing")
    again = re.findall(r"::(\w+)", run(tmp_path, failing, "-v", "--passed", "passed"))
    assert {*again} == {f"test_{n}" for n in range(20) if "1" not in str(n)} | {"test_failing"}


def test_the_gate_leaves_out_what_has_passed_in_a_file_of_another_folder(tmp_path: Path) -> None:
    """Until pytest has loaded its options, it takes a value after a space for a path to tests."""
    (tmp_path / "passed").touch()
    (options,) = re.findall(r'TESTS="([^"]+)"', (ROOT / ".ci/run").read_text(encoding="utf-8"))
    given = options.replace("$services", str(tmp_path)).split()
    command = [sys.executable, "-m", "pytest", *given, "--ignore-glob=*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stderr


def test_a_run_says_what_was_not_tried_and_how_to_get_it(tmp_path: Path) -> None:
    printed = run(tmp_path, SKIPPED)
    assert "\nTests not tried: 3. Missing: Redis (apt install redis-server) for 3.\n" in printed
    assert "Tests not tried" not in run(tmp_path, SEVERAL)


@pytest.mark.parametrize(
    ("reasons", "line"),
    [
        ([], ""),
        (["Skipped: needs Linux"], ""),
        (
            ["Skipped: needs a browser (apt install x, or set Y)", "needs Z (pip install z)"] * 2
            + ["needs Z (pip install z)"],
            "Tests not tried: 5. Missing: Z (pip install z) for 3, "
            "a browser (apt install x, or set Y) for 2.",
        ),
        (
            ["needs B (apt install b: it fails here (really))"],
            "Tests not tried: 1. Missing: B (apt install b: it fails here (really)) for 1.",
        ),
    ],
)
def test_what_is_missing_most_comes_first(reasons: list[str], line: str) -> None:
    assert not_tried(reasons) == line
