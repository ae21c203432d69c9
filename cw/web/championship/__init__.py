"""Championship pages: the report, and the handouts for teams."""
