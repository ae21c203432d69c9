"""Mails: rows of what is to be sent, what they say, sending them, and how many an address gets."""
