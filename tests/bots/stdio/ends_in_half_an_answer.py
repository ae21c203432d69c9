"""Writes half an answer and ends as if all were well."""

import sys

sys.stdin.readline()
sys.stdout.write('{"turns_left":')
