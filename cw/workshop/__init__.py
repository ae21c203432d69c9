"""The workshop, where a bot is written and tried: files, runs, error marks, series, checks."""
