"""Answers every request twice."""

import os
import sys

for line in sys.stdin:
    os.write(1, f"first {line}second {line}".encode())
