"""A bot is written and tried: its files, its runs, what was wrong, series and checks."""
