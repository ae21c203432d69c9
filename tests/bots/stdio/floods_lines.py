"""Writes short lines without end."""

import os

block = b'{"turns_left":0}\n' * 4096
while True:
    os.write(1, block)
