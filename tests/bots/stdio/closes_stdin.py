"""Closes its standard input and lives on."""

import os
import time

os.close(0)
print('{"ready":true}', flush=True)
time.sleep(600)
