"""Writes a gigabyte without a line end."""

import os

block = b"x" * 2**20
for _ in range(1024):
    os.write(1, block)
