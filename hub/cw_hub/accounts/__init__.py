"""User accounts: log-in, tokens, tickets, mails and the audit log."""
