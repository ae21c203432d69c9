"""People: accounts, log-in, tokens, tickets, mail and the audit log."""
