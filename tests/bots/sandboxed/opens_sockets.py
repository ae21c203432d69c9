"""Tries to reach the port given on this machine, and a server far away."""

import json
import socket
import sys

reached = {}
for address in (("127.0.0.1", int(sys.argv[1])), ("192.0.2.1", 80)):
    try:
        socket.create_connection(address, timeout=0.5).close()
        reached[address[0]] = "reached"
    except TimeoutError:
        reached[address[0]] = "silence"
    except OSError as error:
        reached[address[0]] = error.strerror or str(error)
print(json.dumps(reached), flush=True)
sys.stdin.read()
