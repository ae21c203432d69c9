"""Pages over all subjects: home, layout, administration, API."""
