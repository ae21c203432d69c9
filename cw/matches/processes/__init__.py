"""Processes that play matches: a worker, several of them, series, and files of live matches."""
