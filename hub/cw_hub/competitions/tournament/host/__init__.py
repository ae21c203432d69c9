"""HOST: the pages and actions of a tournament's host."""
