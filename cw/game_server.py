"""The server as the assignment starts it: `python cw/game_server.py`, the same as `cw serve`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Python has put this folder first on the import path, where it hides nothing but itself.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

    from cw.packages import packages_expected

    with packages_expected():
        from cw.cli import main

        main(["serve", *sys.argv[1:]])
