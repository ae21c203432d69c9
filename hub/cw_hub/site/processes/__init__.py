"""The processes of a site, combining the parts of all subjects."""
