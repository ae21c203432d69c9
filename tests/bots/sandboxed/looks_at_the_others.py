"""Lists the command lines of all processes that it sees."""

import json
import sys
from pathlib import Path

seen = []
for folder in Path("/proc").iterdir():
    if folder.name.isdecimal():
        try:
            seen.append((folder / "cmdline").read_text())
        except OSError:
            continue
print(json.dumps(seen), flush=True)
sys.stdin.read()
