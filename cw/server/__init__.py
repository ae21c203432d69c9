"""The server that bots connect to: Circuit Wars, its rooms, and its protocol over HTTP."""
