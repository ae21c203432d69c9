"""Answers with bytes that are no UTF-8."""

import os
import sys

for _ in sys.stdin:
    os.write(1, b"\xff\xfe\x80\n")
