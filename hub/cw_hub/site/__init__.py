"""Pages across all subjects: home, layout, administration, API."""
