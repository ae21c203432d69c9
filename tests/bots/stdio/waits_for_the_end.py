"""Answers, and ends in order with its input."""

import sys

for line in sys.stdin:
    print(line, end="", flush=True)
sys.exit(7)
