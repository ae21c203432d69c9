"""What lets people and programs in: passwords, tickets, tokens, printed cards."""
