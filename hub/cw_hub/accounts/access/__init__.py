"""Authentication of people and programs: passwords, tickets, tokens, printed cards."""
