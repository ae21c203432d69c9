"""Says that it is ready, and reads nothing."""

import time

print('{"ready":true}', flush=True)
time.sleep(600)
