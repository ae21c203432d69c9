"""Touches memory that is not its own."""

import ctypes
import sys

sys.stdin.readline()
ctypes.string_at(0)
