"""Playing: the worker that takes a match, its fair share of machines, and one attempt."""
