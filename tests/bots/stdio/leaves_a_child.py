"""Ends, but leaves a child that holds its pipes open; says the number of the child."""

import subprocess
import sys

child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
sys.stdin.readline()
