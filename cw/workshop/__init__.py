"""Writing and trying a bot: its files, runs, error marks, series and checks."""
