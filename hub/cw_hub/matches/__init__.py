"""The life of a match, its pages, and the job that plays it."""
