"""Takes all that it is told and never says a word."""

import sys

for _ in sys.stdin:
    pass
