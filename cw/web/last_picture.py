"""A process that renders the last turn of the replay on standard input as a PNG file.

Its argument is `dark` or `light`, for the board alone on such a page, or `card`, for a larger image
with the players and the winner. It exits with code 1 if the replay cannot be drawn.
"""

from __future__ import annotations

import os
import sys

from cw.errors import ArenaError
from cw.pictures.exports import still, thumbnail
from cw.pictures.raster import png
from cw.replays.document import Document, parse, unpacked
from cw.web.replay_export import drawn
from cw.web.replay_store import LARGEST_LISTED

PATIENT = 10
"""Niceness of the process, so that processes that serve requests have priority."""


def painted(document: Document, dark: bool) -> bytes:
    """Return the thumbnail of a replay as a PNG file."""
    return png(thumbnail(drawn(document), dark=dark))


def card(document: Document) -> bytes:
    """Return the last turn of a replay, with the players and the winner, as a PNG file."""
    return png(still(drawn(document), -1))


def main() -> None:
    """Render the replay on standard input."""
    kind = sys.argv[1:]
    if sys.platform != "win32":
        os.nice(PATIENT)
    try:
        document = parse(unpacked(sys.stdin.buffer.read(), LARGEST_LISTED))
        picture = card(document) if kind == ["card"] else painted(document, dark=kind == ["dark"])
    except ArenaError:
        raise SystemExit(1) from None
    sys.stdout.buffer.write(picture)


if __name__ == "__main__":
    main()
