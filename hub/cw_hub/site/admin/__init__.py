"""Administration: the state of the site, bots, competitions."""
