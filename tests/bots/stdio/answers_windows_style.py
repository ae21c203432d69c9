"""Ends its lines in CR LF and puts empty ones between them."""

import os
import sys

for line in sys.stdin:
    os.write(1, b"\r\n\n" + line.strip().encode() + b"\r\n")
