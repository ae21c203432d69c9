"""Finding the Chromium browser that parts of the benchmark drive."""

from __future__ import annotations

import os
import shutil
from typing import Final

PROGRAMS: Final = ("chromium", "chromium-headless-shell")


def chromium() -> str | None:
    """Return the path of Chromium, which `CW_CHROMIUM` may name; None if there is none."""
    programs = map(shutil.which, PROGRAMS)
    return os.environ.get("CW_CHROMIUM") or next((path for path in programs if path), None)
