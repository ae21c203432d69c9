"""Starts processes until the system says no, or there are 2,000; says how many."""

import os
import sys
import time

parent = os.getpid()
started = 0
try:
    while started < 2000:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        started += 1
except OSError as error:
    print("refused:", error.strerror, end=" ")
print("started", started, flush=True)
sys.stdin.read()
