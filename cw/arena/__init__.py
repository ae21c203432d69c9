"""One match in progress, whoever its players are."""
