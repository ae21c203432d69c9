"""Statistics of results: ratings, intervals, sequential tests, stochastic search."""
