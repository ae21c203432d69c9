"""What tells operators how a site is: logs, counts, the doctor, the check of clocks."""
