"""A contest of many teams: its runner, its journal and its report."""
