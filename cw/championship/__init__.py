"""Contests between many teams: settings, teams, runner, journal and report."""
