"""The lab: compares two bots, tunes numbers, runs leagues, and repeats recorded questions."""
