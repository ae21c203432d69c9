"""Leaves in the middle of the game with the code of a shell for a killed program."""

import sys

sys.stdin.readline()
sys.exit(137)
