"""What tests need beside Python, and how it is installed.

A test without its tool is skipped with what to type; in the gate, which sets a variable for each
group of tools, it fails. The last line of a run sums up what was not tried.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NoReturn

import pytest

from cw.arena.sandbox import bubblewrap
from cw.kits import LANGUAGES

REASON: Final = re.compile(r"needs (.+? \(.+\))$", re.M)


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a machine may lack."""

    name: str
    install: str
    """How it is installed."""
    group: str = ""
    """Of the variable `CW_REQUIRE_` under which no test may be skipped for it; "" for none."""

    @property
    def reason(self) -> str:
        """Return why a test without it is skipped."""
        return f"needs {self.name} ({self.install})"

    def missing(self) -> NoReturn:
        """Skip a test without it, or fail where none may be missing."""
        if self.group and os.environ.get(f"CW_REQUIRE_{self.group}"):
            pytest.fail(self.reason)
        pytest.skip(self.reason)

    def program(self, *names: str, path: str | None = None) -> str:
        """Return the path of the first of its programs that is there."""
        found = (shutil.which(name, path=path) for name in names)
        return next(filter(None, found), None) or self.missing()

    def unless(self, there: object) -> pytest.MarkDecorator:
        """Return the mark of tests that are skipped without it."""
        return pytest.mark.skipif(not there, reason=self.reason)


def language(name: str) -> Tool:
    """Return what builds and runs bots in a language."""
    about = LANGUAGES[name]
    return Tool(about.title, f"apt install {about.packages}", "KITS")


def require(name: str) -> None:
    """Skip a test if this machine cannot build and run bots in a language."""
    if LANGUAGES[name].missing():
        language(name).missing()


def needs_language(name: str) -> pytest.MarkDecorator:
    """Return the mark of tests that build and run bots in a language."""
    return language(name).unless(not LANGUAGES[name].missing())


BASH: Final = Tool("bash", "apt install bash")
BROWSER: Final = Tool(
    "a browser", "apt install chromium-headless-shell, or set CW_CHROMIUM", "BROWSER"
)
CADDY: Final = Tool("Caddy", "apt install caddy", "SERVICES")
CONTROL_GROUPS: Final = Tool("control groups that may be written", "run the tests as root")
CURL: Final = Tool("curl", "apt install curl")
CLONE: Final = Tool("the history of this checkout", "apt install git, and git clone")
IP: Final = Tool("root and the command ip", "apt install iproute2")
LIBSECCOMP: Final = Tool("libseccomp", "apt install libseccomp2")
MAKE: Final = Tool("make", "apt install make")
PANDAS: Final = Tool("pandas", "pip install pandas")
PGBOUNCER: Final = Tool("PgBouncer", "apt install pgbouncer", "SERVICES")
POSTGRESQL: Final = Tool(
    "PostgreSQL", "apt install postgresql; it must run at 127.0.0.1:5432", "SERVICES"
)
PRLIMIT: Final = Tool("prlimit", "apt install util-linux")
PROMTOOL: Final = Tool("promtool", "apt install prometheus", "SERVICES")
REDIS: Final = Tool("Redis", "apt install redis-server", "SERVICES")
ROOT: Final = Tool("root and the command unshare", "run the tests as root")
SWIFT: Final = Tool("OpenStack Swift", "apt install python3-swift", "SERVICES")
SYSTEMD: Final = Tool("systemd-analyze", "apt install systemd")
NSPAWN: Final = Tool(
    "root, systemd-nspawn and this Python in /usr", "apt install systemd-container python3"
)
TYPESCRIPT: Final = Tool("TypeScript", "apt install npm, and npm ci", "TYPESCRIPT")
YARDSTICKS: Final = Tool("the programs to compare with", "pip install -r bench/requirements.txt")

PROBLEM: Final = bubblewrap.problem()
BUBBLEWRAP: Final = Tool(
    "bubblewrap", f"apt install bubblewrap{f': {PROBLEM}' if shutil.which('bwrap') else ''}"
)
NEEDS_BUBBLEWRAP: Final = BUBBLEWRAP.unless(PROBLEM is None)


def not_tried(reasons: Iterable[str]) -> str:
    """Return in one line what was not tried and what to install, from why tests were skipped.

    Return "" if nothing that could be installed is missing.
    """
    counted = Counter(match[1] for reason in reasons if (match := REASON.search(reason)))
    parts = [f"{tool} for {number}" for tool, number in counted.most_common()]
    return f"Tests not tried: {counted.total()}. Missing: {', '.join(parts)}." if parts else ""
