"""What tells operators how a site is doing: logs, counters, the doctor, the clock check."""
