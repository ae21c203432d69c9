"""Says of each folder given whether it can write there."""

import json
import sys
from pathlib import Path

writable = {}
for name in sys.argv[1:]:
    trace = Path(name, "left-by-a-bot")
    try:
        trace.write_text("here I was")
        writable[name] = True
    except OSError:
        writable[name] = False
print(json.dumps(writable), flush=True)
sys.stdin.read()
