"""Computes for ever."""

print("computing", flush=True)
while True:
    pass
