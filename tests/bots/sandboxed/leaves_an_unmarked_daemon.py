"""Starts a daemon with a session and an environment of its own; says its number."""

import subprocess
import sys

daemon = subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]],
    env={},
    start_new_session=True,
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
print(daemon.pid, flush=True)
sys.stdin.read()
