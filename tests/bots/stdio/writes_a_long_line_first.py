"""Prints a remark of 100 kB before every answer."""

import sys

for line in sys.stdin:
    print("x" * 100_000)
    print(line, end="", flush=True)
