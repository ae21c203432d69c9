"""The page of a local league."""
