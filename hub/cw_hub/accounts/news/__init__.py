"""Mails that are not individually requested: who wants them, and how to turn them off."""
