"""Prints a remark before every answer."""

import sys

for line in sys.stdin:
    print("thinking about", len(line), "bytes")
    print(line, end="", flush=True)
