"""What results say with how much doubt: ratings, intervals, sequential tests, stochastic search."""
