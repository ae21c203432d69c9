"""People in tournaments: invitations, team members, hosts, and readiness."""
