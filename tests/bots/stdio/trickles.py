"""Writes a byte every 100 ms, and never a line end."""

import os
import time

while True:
    os.write(1, b"x")
    time.sleep(0.1)
