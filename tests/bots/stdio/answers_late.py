"""Answers its first request when the second one has come, then the second."""

import sys

first = sys.stdin.readline()
second = sys.stdin.readline()
print(first, second, sep="", end="", flush=True)
sys.stdin.read()
