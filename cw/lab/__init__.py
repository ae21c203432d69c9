"""The lab: which of two bots is stronger, which numbers are best, and why a match was lost."""
