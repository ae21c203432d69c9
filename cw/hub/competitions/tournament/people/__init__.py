"""People in tournaments: invitations, the members of teams, hosts, and who is ready."""
