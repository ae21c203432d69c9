"""Bots come to us: the server of Circuit Wars, its rooms and its protocol over HTTP."""
