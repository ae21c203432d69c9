"""The server, started as in the assignment: `python cw/game_server.py`, the same as `cw serve`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Python puts this script's folder first on the import path; its parent is needed there instead.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

    from cw.version import packages_expected

    with packages_expected():
        from cw.cli import main

        main(["serve", *sys.argv[1:]])
