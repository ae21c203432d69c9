"""User accounts: login, tokens, tickets, emails and the audit log."""
