"""Where people go after they have logged in."""

from __future__ import annotations

import re
from typing import Final

from flask import request, url_for

PATH_OF_SITE: Final = re.compile(r"/(?![/\\])[^\\\x00-\x1f\x7f-\x9f]*")
"""One leading slash and no second one, which would begin the name of another host."""


def wanted() -> str:
    """Return the path of this site that a request names as `next`, "" for none."""
    path = request.values.get("next", "")
    return path if PATH_OF_SITE.fullmatch(path) else ""


def destination() -> str:
    """Return where somebody who has logged in is sent."""
    return wanted() or url_for("ranking.page")
