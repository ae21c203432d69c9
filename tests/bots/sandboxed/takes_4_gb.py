"""Takes 4 GB of memory, and touches it."""

import sys

try:
    blocks = [bytearray(b"x" * 2**26) for _ in range(64)]
    print("got", len(blocks), flush=True)
except MemoryError:
    print("refused", flush=True)
sys.stdin.read()
