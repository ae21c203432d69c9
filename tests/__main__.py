"""`python -m tests`: style, types and the fast suite; with `--all`, every test there is.

With `--tests` neither style nor types are checked, with `--types` nothing else. Further arguments
go to pytest. The site is checked with the arena, where hub/ is there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

Command = tuple[str, ...]

STYLE: tuple[Command, ...] = (("ruff", "check", "."), ("ruff", "format", "--check", "--quiet", "."))
HAS_SITE = Path(ROOT, "hub").exists()
# The site is a package that is installed, and its tests are not in it: two checks.
SITE: tuple[Command, ...] = (
    ("mypy", "-p", "cw_hub"),
    ("mypy", "hub/bench", "hub/docs", "hub/tests"),
)
TYPES: tuple[Command, ...] = (("mypy",), *(SITE if HAS_SITE else ()))
PACKAGES: Command = ("-p", "cw", *(("-p", "cw_hub") if HAS_SITE else ()))
# A cache holds one platform: in a common one, each check would begin anew.
OTHER_TYPES: tuple[Command, ...] = tuple(
    ("mypy", "--platform", platform, "--cache-dir", f".mypy_cache/{platform}", *PACKAGES)
    for platform in ("win32", "darwin")
)
TESTS: Command = ("pytest", "--numprocesses", "auto", "--dist", "worksteal")
FAST: Command = ("-m", "not thorough")
COLLECTION: Command = ("pytest", "--collect-only", "-qq")


def start(command: Command, output: int | None = None) -> subprocess.Popen[str]:
    """Start a module of this Python in the repository; `output` is that of `Popen`."""
    program = [sys.executable, "-m", *command]
    return subprocess.Popen(program, cwd=ROOT, text=True, stdout=output, stderr=output)


def succeeds(command: Command) -> bool:
    """Run a module, its output as it comes; return whether it succeeded."""
    print("+", *command, flush=True)  # noqa: T201
    return start(command).wait() == 0


def report(command: Command) -> tuple[Command, str, bool]:
    """Run a module; return it, its output, and whether it succeeded."""
    check = start(command, subprocess.PIPE)
    output, errors = check.communicate()
    return command, output + errors, check.returncode == 0


def compile_tests() -> None:
    """Let one process compile all modules of tests: else each of the workers does it for itself."""
    print("+", *COLLECTION, flush=True)  # noqa: T201
    start(COLLECTION, subprocess.DEVNULL).wait()


def prepare(everything: bool) -> None:
    """Set the environment of the checks."""
    # Tests wait for processes, pages and time limits most of their time, the thorough ones less.
    workers = (2 if everything else 3) * (os.cpu_count() or 1)
    os.environ.setdefault("PYTEST_XDIST_AUTO_NUM_WORKERS", str(workers))
    # Hundreds of programs start; each would compile all that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if everything:
        os.environ["CW_THOROUGH"] = "1"


def main() -> int:
    """Run all checks, types beside the tests and even after one has failed; 1 if any has."""
    words = {"--all", "--tests", "--types"} & set(sys.argv[1:])
    arguments = [one for one in sys.argv[1:] if one not in words]
    everything, alone = "--all" in words, "--tests" in words
    prepare(everything)
    style = () if alone else STYLE
    types = () if alone else TYPES + OTHER_TYPES if everything else TYPES
    if "--types" in words:
        results = [succeeds(command) for command in types]
        return 0 if all(results) else 1
    tests = TESTS if everything else TESTS + FAST
    with ThreadPoolExecutor(1) as beside:
        reports = beside.map(report, types)
        results = [succeeds(command) for command in style]
        compile_tests()
        results.append(succeeds((*tests, *arguments)))
        for command, output, succeeded in reports:
            print("+", " ".join(command), f"\n{output}", end="", flush=True)  # noqa: T201
            results.append(succeeded)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
