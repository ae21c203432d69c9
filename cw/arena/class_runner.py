"""The program that plays a Python class: a view a line, an action a line. Run as source, alone."""

import json
import runpy
import sys


def main(path: str, name: str) -> None:
    """Answer each line `{"view": ...}` with `{"action": ...}`; the class prints to stderr."""
    out, sys.stdout = sys.stdout, sys.stderr
    player = runpy.run_path(path)[name]()
    for line in sys.stdin:
        action = player.act(json.loads(line)["view"])
        out.write(json.dumps({"action": action}) + "\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
