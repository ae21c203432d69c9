"""Code shared by all pages."""
