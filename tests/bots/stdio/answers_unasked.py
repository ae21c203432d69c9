"""Writes three answers before it is asked, then one for each request."""

import sys

print("early 1\nearly 2\nearly 3", flush=True)
for line in sys.stdin:
    print("asked", line, end="", flush=True)
