"""Code shared by pages of all subjects."""
