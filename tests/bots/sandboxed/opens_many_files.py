"""Opens files until the system says no, or there are 5,000; says how many."""

import sys

opened: list[object] = []
try:
    while len(opened) < 5000:
        opened.append(open(__file__))
except OSError:
    pass
print(len(opened), flush=True)
sys.stdin.read()
