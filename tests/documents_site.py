"""The documents as a site, made once for all tests; a broken link is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.once import once
from tests.typed import ROOT


def documents_site(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site."""
    return once(factory, "documents", build)


def build(folder: Path) -> None:
    """Make the site; raises CalledProcessError for a link that leads nowhere."""
    command = ["docs/site/build.py", "--quiet", "--fail-on-warning", str(folder)]
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True)
