"""Mails that nobody asked for one by one: who wants them, and how they are turned off."""
