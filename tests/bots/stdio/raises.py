"""Fails with a traceback in the middle of the game."""

import sys

sys.stdin.readline()
raise RuntimeError("the plan was wrong")
