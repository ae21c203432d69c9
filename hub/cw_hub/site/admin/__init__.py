"""The admin area: status of the site, bots, competitions, matches, emails and accounts."""
