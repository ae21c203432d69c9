"""Writes a file of 2 GB; says how many bytes it could."""

import os
import sys

written = 0
try:
    with open("large", "wb", buffering=0) as file:
        for _ in range(2048):
            written += file.write(bytes(2**20))
except OSError as error:
    print("refused:", error.strerror, end=" ")
print("wrote", written, flush=True)
if os.path.exists("large"):
    os.remove("large")
sys.stdin.read()
