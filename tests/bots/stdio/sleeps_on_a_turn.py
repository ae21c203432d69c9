"""Is ready, then falls asleep over the first request."""

import time

print('{"ready":true}', flush=True)
time.sleep(600)
