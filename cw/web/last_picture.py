"""A process that paints the last turn of a replay: its file in, a small PNG file out.

Its argument is `dark` or `light`. A replay that cannot be drawn ends it with exit code 1.
"""

from __future__ import annotations

import os
import sys

from cw.errors import ArenaError
from cw.replays.document import parse, unpacked
from cw.web.replay_summary import LARGEST_LISTED
from cw.web.thumbnails import painted

PATIENT = 10
"""How much the process stands back behind those that answer."""


def main() -> None:
    """Paint the replay of standard input."""
    if sys.platform != "win32":
        os.nice(PATIENT)
    try:
        document = parse(unpacked(sys.stdin.buffer.read(), LARGEST_LISTED))
        picture = painted(document, dark=sys.argv[1:] == ["dark"])
    except ArenaError:
        raise SystemExit(1) from None
    sys.stdout.buffer.write(picture)


if __name__ == "__main__":
    main()
