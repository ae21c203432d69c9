"""What admins look at and do: the state of the site, bots, competitions."""
