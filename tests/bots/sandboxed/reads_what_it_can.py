"""Says of each path given whether it can be read."""

import json
import sys
from pathlib import Path

readable = {}
for name in sys.argv[1:]:
    try:
        path = Path(name)
        readable[name] = bool(list(path.iterdir()) if path.is_dir() else path.read_bytes())
    except OSError:
        readable[name] = False
print(json.dumps(readable), flush=True)
sys.stdin.read()
