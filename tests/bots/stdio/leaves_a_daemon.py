"""Starts a daemon in a session of its own, with no pipe of ours; says its number."""

import subprocess
import sys

daemon = subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(600)"],
    start_new_session=True,
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
print(daemon.pid, flush=True)
sys.stdin.read()
