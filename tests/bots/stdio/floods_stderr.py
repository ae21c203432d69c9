"""Writes 200 MB of errors for its first request, then answers."""

import os
import sys

for line in sys.stdin:
    os.write(2, b"the head of the errors\n")
    for _ in range(200):
        os.write(2, b"e" * 1_000_000)
    os.write(2, b"\nthe tail of the errors\n")
    print(line, end="", flush=True)
