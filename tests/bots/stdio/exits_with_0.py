"""Leaves in the middle of the game, content."""

import sys

sys.stdin.readline()
