"""The page of a league of one's own."""
